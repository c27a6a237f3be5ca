// The filters of the list, each as a control; a change is a new address.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { OUTCOMES, SPANS, TEXT_FILTERS, type Filters, type TextFilter } from './filters.ts';
import { KeyFilter, ProjectFilter } from './name-filters.tsx';
import { useSettled } from './use-settled.ts';

const NAME_FILTERS: Readonly<Partial<Record<TextFilter, typeof KeyFilter>>> = {
  project: ProjectFilter,
  key: KeyFilter,
};
const LABELS: Readonly<Record<TextFilter, string>> = {
  model: 'Model',
  provider: 'Provider',
  project: 'Project',
  key: 'Key',
  protocol: 'Protocol',
  status: 'Status',
  end_user: 'End user',
};

export function FilterBar({ filters }: { readonly filters: Filters }): ReactNode {
  const navigate = useNavigate({ from: '/requests' });
  const change = (changes: { readonly [Name in keyof Filters]?: Filters[Name] | undefined }): void => {
    const next = Object.entries({ ...filters, ...changes }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    void navigate({ search: Object.fromEntries(next) as Filters, replace: true });
  };
  const id = useNavigate();
  const known = useKnownNames();
  const bar = useRef<HTMLElement>(null);
  const clear = (): void => {
    void navigate({ search: {}, replace: true });
    // The button is gone then.
    bar.current?.querySelector('select')?.focus();
  };
  return (
    <search ref={bar} className="grid grid-cols-2 gap-2 sm:grid-cols-4 lg:grid-cols-6">
      <select
        className="field"
        aria-label="Time"
        value={filters.span ?? ''}
        onChange={({ target }) => change({ span: (target.value || undefined) as Filters['span'] })}
      >
        <option value="">All time</option>
        {Object.keys(SPANS).map((span) => (
          <option key={span} value={span}>
            Last {span}
          </option>
        ))}
      </select>
      <select
        className="field"
        aria-label="Outcome"
        value={filters.outcome ?? ''}
        onChange={({ target }) => change({ outcome: (target.value || undefined) as Filters['outcome'] })}
      >
        <option value="">Any outcome</option>
        {OUTCOMES.map((outcome) => (
          <option key={outcome}>{outcome}</option>
        ))}
      </select>
      {TEXT_FILTERS.map((name) => {
        const NameFilter = NAME_FILTERS[name];
        const value = filters[name] ?? '';
        const take = (next: string): void => change({ [name]: next });
        return NameFilter ? (
          <NameFilter key={name} label={LABELS[name]} value={value} onChange={take} />
        ) : (
          <TextBox key={name} label={LABELS[name]} value={value} known={known[name] ?? []} onChange={take} />
        );
      })}
      <TextBox
        label="Cost from $"
        value={filters.min_cost_usd === undefined ? '' : String(filters.min_cost_usd)}
        known={[]}
        onChange={(value) => change({ min_cost_usd: Number(value) > 0 ? Number(value) : undefined })}
      />
      <TextBox
        label="Go to id"
        value=""
        known={[]}
        onChange={(value) => value.length > 8 && void id({ to: '/requests/$id', params: { id: value } })}
      />
      {Object.keys(filters).length > 0 && (
        <Button look="quiet" icon="close" onClick={clear}>
          Clear
        </Button>
      )}
    </search>
  );
}

function useKnownNames(): Readonly<Partial<Record<TextFilter, readonly string[]>>> {
  const providers = useRead('GET /providers', { query: { limit: 100 } });
  return {
    provider: providers.data?.data.map(({ id }) => id) ?? [],
    protocol: [...new Set(providers.data?.data.flatMap(({ protocols }) => protocols))],
    status: ['200', '400', '401', '402', '404', '429', '500', '502', '503', '504'],
  };
}

interface TextBoxProps {
  readonly label: string;
  readonly value: string;
  readonly known: readonly string[];
  readonly onChange: (value: string) => void;
}

function TextBox({ label, value, known, onChange }: TextBoxProps): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const settled = useSettled(text.trim());
  const take = useEffectEvent(() => settled !== value && onChange(settled));
  useEffect(() => void take(), [settled]);
  const list = `known-${label.toLowerCase().replaceAll(/\W/g, '-')}`;
  return (
    <>
      <input
        className="field"
        aria-label={label}
        placeholder={label}
        list={known.length > 0 ? list : undefined}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      {known.length > 0 && (
        <datalist id={list}>
          {known.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}
