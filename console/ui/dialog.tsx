// A question above the page; most are a form, which ends alike wherever it stands.
import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
}

export function Dialog({ open, onClose, title, about, children }: DialogProps): ReactNode {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-ink opacity-30 dark:opacity-60" />
        <Base.Popup className="fixed inset-x-0 bottom-0 z-50 max-h-full overflow-y-auto rounded-t-xl border bg-card p-5 shadow-xl sm:inset-x-auto sm:top-1/2 sm:bottom-auto sm:left-1/2 sm:w-full sm:max-w-xl sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-xl">
          <div className="mb-4 flex items-start justify-between gap-4">
            <div>
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {about != null && <Base.Description className="mt-0.5 text-soft">{about}</Base.Description>}
            </div>
            <Button look="quiet" icon="close" aria-label="Close" onClick={onClose} />
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface FormDialogProps extends Pick<DialogProps, 'title' | 'about' | 'children' | 'onClose'> {
  /** What the button says that does it. */
  readonly verb: string;
  /** True: it cannot be undone. */
  readonly danger?: boolean;
  readonly busy: boolean;
  /** Why it was refused; null: it was not. */
  readonly error: Error | null;
  readonly onSubmit: () => void;
}

/** A form, with what was wrong above it and the two ways out below. */
export function FormDialog({
  verb,
  danger = false,
  busy,
  error,
  onSubmit,
  children,
  ...rest
}: FormDialogProps): ReactNode {
  return (
    <Dialog open {...rest}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {error && <Problem error={error} />}
        {children}
        <div className="flex justify-end gap-2">
          <Button onClick={rest.onClose}>Cancel</Button>
          <Button type="submit" look={danger ? 'danger' : 'primary'} busy={busy}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
