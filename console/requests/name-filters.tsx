// Whose requests are shown: keys and projects are picked by their names, which the gateway looks for. What is no name that it
// knows may be an id, or several behind commas.
import { useState, type ReactNode } from 'react';
import { useKeyNames } from '../api/key-names.ts';
import { useRead } from '../api/queries.ts';
import { Picker, type Option } from '../ui/picker.tsx';
import { useSettled } from './use-settled.ts';

/** Of those that fit; who does not find theirs types more. */
const MOST = 50;

interface NameFilterProps {
  readonly label: string;
  /** Ids behind commas; empty: all. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function KeyFilter({ label, value, onChange }: NameFilterProps): ReactNode {
  const [text, setText] = useState('');
  const search = useSettled(text);
  const { data } = useRead('GET /keys', { query: { limit: MOST, search: search || undefined } });
  const ids = value === '' ? [] : value.split(',').map((id) => id.trim());
  const names = useKeyNames(ids);
  return (
    <Picker
      label={label}
      value={
        value === '' ? null : { id: value, name: ids.map((id) => names.get(id) ?? id).join(', '), note: null }
      }
      options={withText(
        text,
        (data?.data ?? []).map(({ id, name, project, state, hint }) => ({
          id,
          name,
          note: [project, state === 'active' ? null : state, hint]
            .filter((each) => each !== null)
            .join(' · '),
        })),
      )}
      onSearch={setText}
      onChange={(option) => onChange(option?.id ?? '')}
    />
  );
}

export function ProjectFilter({ label, value, onChange }: NameFilterProps): ReactNode {
  const [text, setText] = useState('');
  const search = useSettled(text);
  const { data } = useRead('GET /projects', { query: { limit: MOST, search: search || undefined } });
  return (
    <Picker
      label={label}
      value={value === '' ? null : { id: value, name: value, note: null }}
      options={withText(
        text,
        (data?.data ?? []).map(({ id, state }) => ({
          id,
          name: id,
          note: state === 'active' ? null : state,
        })),
      )}
      onSearch={setText}
      onChange={(option) => onChange(option?.id ?? '')}
    />
  );
}

/** Those that were found and still fit what is typed, and this as it is. @param found of what was typed a moment ago */
function withText(text: string, found: readonly Option[]): readonly Option[] {
  const fitting = found.filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(text.toLowerCase()));
  const exact = fitting.filter(({ id, name }) => id === text || name === text);
  if (text === '') return fitting;
  const others = fitting.filter((option) => !exact.includes(option));
  return exact.length > 0 ? [...exact, ...others] : [...others, { id: text, name: text, note: 'as an id' }];
}
