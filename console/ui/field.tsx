// A labelled control of a form, with what helps to fill it in and what is wrong with it.
import { useId, type ReactNode } from 'react';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | null | undefined;
  readonly className?: string;
  /** The control, given what ties it to its label. */
  readonly children: (control: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean;
  }) => ReactNode;
}

export function Field({ label, hint, error, className, children }: FieldProps): ReactNode {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium text-soft">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': note == null ? undefined : `${id}-note`,
        'aria-invalid': error != null,
      })}
      {note != null && (
        <p id={`${id}-note`} className={error == null ? 'mt-1 text-xs text-faint' : 'mt-1 text-xs text-bad'}>
          {note}
        </p>
      )}
    </div>
  );
}
