// Dialogs that create a webhook, whose secret is shown once, and delete one.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { FormDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { ShownOnce } from '../ui/shown-once.tsx';
import { toast } from '../ui/toast.ts';
import type { Webhook } from './webhooks-card.tsx';

interface NewWebhookProps {
  readonly onClose: () => void;
}

/** Event types, separated by commas. The gateway rejects unknown ones. */
type Types = NonNullable<Webhook['events']>;

export function NewWebhook({ onClose }: NewWebhookProps): ReactNode {
  const [url, setUrl] = useState('');
  const [project, setProject] = useState('');
  const [events, setEvents] = useState('');
  const queries = useQueryClient();
  const making = useMutation({
    mutationFn: () => {
      const types = events.split(',').flatMap((type) => type.trim() || []);
      return ask('POST /webhooks', {
        body: {
          url: url.trim(),
          project: project.trim() || null,
          events: types.length > 0 ? (types as Types as never) : null,
        },
      });
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['GET /webhooks'] }),
  });
  if (making.data)
    return (
      <ShownOnce
        title="Webhook secret"
        about="The receiver verifies signatures with it. It is shown only now."
        secret={{ name: 'Secret', text: making.data.secret }}
        onDone={onClose}
      />
    );
  return (
    <FormDialog
      title="New webhook"
      about="It receives events, signed according to Standard Webhooks."
      verb="Create webhook"
      busy={making.isPending}
      error={making.error}
      onSubmit={() => making.mutate()}
      onClose={onClose}
    >
      <TextField label="Address" type="url" required value={url} onChange={setUrl} />
      <TextField
        label="Project"
        hint="Empty: events of all projects, and alerts."
        value={project}
        onChange={setProject}
      />
      <TextField
        label="Events"
        hint="Separated by commas, such as response.completed, response.failed. Empty: all."
        value={events}
        onChange={setEvents}
      />
    </FormDialog>
  );
}

interface DeleteWebhookProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

export function DeleteWebhook({ webhook: { id, url }, onClose }: DeleteWebhookProps): ReactNode {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => ask('DELETE /webhooks/{id}', { params: { id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['GET /webhooks'] });
      toast({ title: 'Webhook deleted' });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Delete this webhook?"
      about="No more events are sent to it, and its queued messages are dropped. This cannot be undone."
      verb="Delete webhook"
      danger
      busy={deleting.isPending}
      error={deleting.error}
      onSubmit={() => deleting.mutate()}
      onClose={onClose}
    >
      <p className="font-mono text-xs break-all text-soft">{url}</p>
    </FormDialog>
  );
}
