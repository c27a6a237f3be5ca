// Combobox that searches while the user types, for lists too long to show.
import { Combobox } from '@base-ui/react/combobox';
import { useEffect, useState, type ReactNode } from 'react';

export interface Option {
  readonly id: string;
  readonly name: string;
  /** Text that distinguishes it from options of the same name. */
  readonly note: string | null;
}

interface PickerProps {
  readonly label: string;
  /** Null: none is selected. */
  readonly value: Option | null;
  /** Options that match the typed text. */
  readonly options: readonly Option[];
  /** Called with the typed text; empty: no search. */
  readonly onSearch: (text: string) => void;
  readonly onChange: (option: Option | null) => void;
}

export function Picker({ label, value, options, onSearch, onChange }: PickerProps): ReactNode {
  const name = value?.name ?? '';
  const [text, setText] = useState(name);
  // The name can be loaded later than the id.
  useEffect(() => setText(name), [name]);
  return (
    <Combobox.Root
      items={options}
      filter={null}
      autoHighlight
      value={value}
      inputValue={text}
      itemToStringLabel={(option: Option) => option.name}
      isItemEqualToValue={(one: Option, other: Option) => one.id === other.id}
      onValueChange={onChange}
      onInputValueChange={(next, { reason }) => {
        setText(next);
        onSearch(reason === 'input-change' ? next.trim() : '');
      }}
    >
      <Combobox.Input className="field" aria-label={label} placeholder={label} />
      <Combobox.Portal>
        <Combobox.Positioner className="z-30" sideOffset={4} align="start">
          <Combobox.Popup className="max-h-72 w-max max-w-[calc(100vw-2rem)] min-w-(--anchor-width) overflow-y-auto rounded-md border bg-card py-1 shadow-lg">
            <Combobox.List aria-label={label}>
              {(option: Option) => (
                <Combobox.Item
                  key={option.id}
                  value={option}
                  className="flex max-w-md items-baseline justify-between gap-4 px-2.5 py-1.5 text-sm data-highlighted:bg-wash"
                >
                  <span className="min-w-0 break-words">{option.name}</span>
                  {option.note !== null && (
                    <span className="max-w-40 truncate text-xs text-faint">{option.note}</span>
                  )}
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
