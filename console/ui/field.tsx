// Form controls with label, hint and error.
import { useId, type ComponentProps, type ReactNode } from 'react';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | null | undefined;
  readonly className?: string;
  /** Renders the control with the attributes that connect it to label and note. */
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

type Labelled = Omit<FieldProps, 'children'>;

/** Attributes of the control. */
type Own<Control extends 'input' | 'select'> = Omit<
  ComponentProps<Control>,
  'className' | 'id' | 'onChange' | 'value' | keyof Labelled
>;

interface Edited {
  readonly value: string | number;
  readonly onChange: (text: string) => void;
}

/** Input for text, a number or a time. */
export function TextField({
  label,
  hint,
  error,
  className,
  onChange,
  ...own
}: Labelled & Edited & Own<'input'>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error} {...(className !== undefined && { className })}>
      {(control) => (
        <input {...control} {...own} className="field" onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  );
}

/** Select box. Its options are the children. */
export function SelectField({
  label,
  hint,
  error,
  className,
  onChange,
  ...own
}: Labelled & Edited & Own<'select'>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error} {...(className !== undefined && { className })}>
      {(control) => (
        <select {...control} {...own} className="field" onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  );
}
