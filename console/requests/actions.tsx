// Actions on a request: copy, repeat, and open in the playground.
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { ask } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { count, duration, exactUsd } from '../format/numbers.ts';
import { copyText } from '../ui/copy-text.ts';
import { FormDialog, Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Menu } from '../ui/menu.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.ts';
import type { Generation } from './generation.ts';

const PROTOCOLS: Readonly<Record<string, string>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  gemini: 'gemini',
};
const PATHS: Readonly<Record<string, (model: string, isStreamed: boolean) => string>> = {
  'openai-chat': () => '/v1/chat/completions',
  'openai-responses': () => '/v1/responses',
  'anthropic-messages': () => '/v1/messages',
  gemini: (model, isStreamed) =>
    `/v1beta/models/${model}:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
};

export function Actions({ generation }: { readonly generation: Generation }): ReactNode {
  const [isReplaying, setReplaying] = useState(false);
  const navigate = useNavigate();
  const payloads = useRead('GET /generations/{id}/payloads', { params: { id: generation.id } });
  const body = payloads.data?.data.find(({ stage }) => stage === 'client_request')?.text ?? null;
  const copy = (what: string, text: string): void => {
    void copyText(text).then(() => toast({ title: `${what} copied` }));
  };
  return (
    <>
      <Menu
        label="Actions"
        entries={[
          ...(body === null
            ? []
            : [
                {
                  label: 'Copy as curl',
                  icon: 'copy' as const,
                  onSelect: () => copy('Command', curlOf(generation, body)),
                },
              ]),
          {
            label: 'Copy link',
            icon: 'link' as const,
            onSelect: () => copy('Link', `${location.origin}/console/requests/${generation.id}`),
          },
          { label: 'Copy id', icon: 'copy' as const, onSelect: () => copy('Id', generation.id) },
          ...(body === null
            ? []
            : [
                { label: 'Ask again…', icon: 'rotate' as const, onSelect: () => setReplaying(true) },
                {
                  label: 'Open in the playground',
                  icon: 'playground' as const,
                  onSelect: () =>
                    void navigate({
                      to: '/playground',
                      search: {
                        model: generation.requested_model,
                        protocol: PROTOCOLS[generation.protocol] ?? 'chat',
                        request: generation.id,
                      },
                    }),
                },
              ]),
        ]}
      />
      {isReplaying && <Replay generation={generation} onClose={() => setReplaying(false)} />}
    </>
  );
}

/** The request as a curl command. It reads the API key from the environment. */
function curlOf({ protocol, requested_model: model, streamed }: Generation, body: string): string {
  const path = (PATHS[protocol] ?? PATHS['openai-chat'])?.(model, streamed) ?? '';
  const quoted = `'${body.replaceAll("'", String.raw`'\''`)}'`;
  return [
    `curl -gN '${location.origin}${path}' \\`,
    '  -H "authorization: Bearer $DRAGOMAN_KEY" \\',
    "  -H 'content-type: application/json' \\",
    `  --data-raw ${quoted}`,
  ].join('\n');
}

/** Result of the comparison. `null`: one of the answers is missing or was not kept. */
const SAME: ReadonlyMap<boolean | null, string> = new Map([
  [true, 'The response is the same.'],
  [false, 'The response differs.'],
  [null, 'The responses cannot be compared, because one is missing.'],
]);

function Replay({
  generation,
  onClose,
}: {
  readonly generation: Generation;
  readonly onClose: () => void;
}): ReactNode {
  const [model, setModel] = useState('');
  const asking = useMutation({
    mutationFn: () =>
      ask('POST /generations/{id}/replay', {
        params: { id: generation.id },
        body: model.trim() === '' ? {} : { model: model.trim() },
      }),
  });
  if (asking.data) {
    const { before, after, same_answer: isSame } = asking.data;
    const sides = [
      { name: 'Then', ...before },
      { name: 'Now', ...after },
    ];
    return (
      <Dialog open onClose={onClose} title="Asked again" about={SAME.get(isSame)}>
        <Table
          label="Before and now"
          rows={sides}
          keyOf={({ name }) => name}
          columns={[
            {
              name: 'Request',
              cell: ({ name, id }) => (
                <Link to="/requests/$id" params={{ id }} className="link font-medium" onClick={onClose}>
                  {name}
                </Link>
              ),
            },
            { name: 'Status', number: true, cell: ({ status }) => status },
            { name: 'Served by', cell: ({ endpoint }) => endpoint ?? 'None' },
            { name: 'Tokens out', number: true, cell: ({ output_tokens: tokens }) => count(tokens) },
            { name: 'Cost', number: true, cell: ({ usd }) => exactUsd(usd) },
            { name: 'Duration', number: true, cell: ({ duration_ms: ms }) => duration(ms) },
          ]}
        />
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Ask again"
      about="Sends the same request again with its key. It is charged like any other request."
      verb="Ask again"
      busy={asking.isPending}
      error={asking.error}
      onSubmit={() => asking.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Model"
        hint={`Default: ${generation.requested_model}`}
        value={model}
        onChange={setModel}
      />
    </FormDialog>
  );
}
