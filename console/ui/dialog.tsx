// Modal dialogs, most of which contain a form.
import { Dialog as Base } from '@base-ui/react/dialog';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { Problem } from './problem.tsx';

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly about?: ReactNode;
  /** True: neither Escape nor a click outside closes it, because its content would be lost. */
  readonly isLocked?: boolean;
  /** True: has room for a table. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/**
 * Elements that can get the initial focus: a control, or text to read. In a form without fields this is the cancel
 * button.
 */
const FIRST = 'input, select, textarea, [role=tab], pre, form button, button';

export function Dialog({
  open,
  onClose,
  title,
  about,
  isLocked = false,
  isWide = false,
  children,
}: DialogProps): ReactNode {
  const content = useRef<HTMLDivElement>(null);
  const [opener] = useState(openerOf);
  useEffect(() => () => void requestAnimationFrame(findFocus), []);
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={isLocked}
      onOpenChange={(isOpen, details) => {
        if (isOpen) return;
        if (isLocked) details.cancel();
        else onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-shade" />
        <Base.Popup
          finalFocus={() => (opener?.isConnected === true ? opener : true)}
          // Not on touch screens, where the keyboard would cover half of the dialog.
          initialFocus={() =>
            matchMedia('(pointer: coarse)').matches ||
            (content.current?.querySelector<HTMLElement>(FIRST) ?? true)
          }
          className={cx(
            'fixed inset-x-0 bottom-0 z-50 max-h-full overflow-y-auto rounded-t-lg border bg-card p-5 shadow-xl sm:inset-x-auto sm:top-1/2 sm:bottom-auto sm:left-1/2 sm:w-full sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-lg',
            isWide ? 'sm:max-w-3xl' : 'sm:max-w-xl',
          )}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <div>
              <Base.Title className="text-xl font-semibold">{title}</Base.Title>
              {about != null && <Base.Description className="mt-0.5 text-soft">{about}</Base.Description>}
            </div>
            {!isLocked && <Button look="quiet" icon="close" aria-label="Close" onClick={onClose} />}
          </div>
          <div ref={content}>{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/**
 * Element to focus when the dialog closes: the current one, or the button of a menu whose entry opened the dialog.
 */
function openerOf(): HTMLElement | null {
  const at = document.activeElement;
  const menu = at?.closest('[role=menu]');
  const button = menu
    ? document.querySelector(
        `[aria-controls="${CSS.escape(menu.id)}"], [aria-haspopup=menu][aria-expanded=true]`,
      )
    : at;
  return button instanceof HTMLElement ? button : null;
}

/** Moves the focus to the page if the opener was removed, like the buttons of a revoked key. */
function findFocus(): void {
  if (document.activeElement === document.body) document.getElementById('main')?.focus();
}

interface FormDialogProps extends Pick<DialogProps, 'title' | 'about' | 'children' | 'onClose'> {
  /** Label of the submit button. */
  readonly verb: string;
  /** Label of the cancel button. */
  readonly back?: string;
  /** True: the action cannot be undone. */
  readonly danger?: boolean;
  readonly busy: boolean;
  /** Error of the last attempt; null: none. */
  readonly error: Error | null;
  readonly onSubmit: () => void;
}

/** A form with its error above, and buttons to cancel and submit below. */
export function FormDialog({
  verb,
  back = 'Cancel',
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
          <Button onClick={rest.onClose}>{back}</Button>
          <Button type="submit" look={danger ? 'danger' : 'primary'} busy={busy}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
