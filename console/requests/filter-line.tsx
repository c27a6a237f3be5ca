// Filter bar above the list of requests: search text, a chip per filter, and saved views.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { useSettled } from '../api/use-settled.ts';
import type { RangeSearch } from '../time/range.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useRoving } from '../ui/roving.ts';
import { Segments } from '../ui/segments.tsx';
import { ChoiceChip, LeastChip } from './chip.tsx';
import {
  CHOICES,
  LEASTS,
  narrowing,
  OFFERED,
  VIEWS,
  type ChoiceName,
  type FilterName,
  type Filters,
} from './filters.ts';

/** Time range, which a change of filters keeps. */
function rangeIn({ range, from, to }: Filters): RangeSearch {
  return { ...(range && { range }), ...(from && { from }), ...(to && { to }) };
}

/** True if the filters equal those of a view. The search text and the open request are ignored. */
function isSame({ text: _, open: __, view: ___, ...filters }: Filters, view: Filters): boolean {
  const names = [...new Set([...Object.keys(filters), ...Object.keys(view)])] as (keyof typeof filters)[];
  return names.every((name) => filters[name] === view[name]);
}

function viewOf(name: string): Filters {
  return VIEWS.find((view) => view.name === name)?.filters ?? {};
}

export function FilterLine({
  filters,
  aside,
}: {
  readonly filters: Filters;
  readonly aside: ReactNode;
}): ReactNode {
  const navigate = useNavigate({ from: '/requests' });
  const [added, setAdded] = useState<FilterName | null>(null);
  const change = (changes: { readonly [Name in keyof Filters]?: Filters[Name] | undefined }): void => {
    const next = Object.entries({ ...filters, ...changes }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    void navigate({ search: Object.fromEntries(next) as Filters, replace: true });
  };
  const chosen = narrowing(filters);
  const shown = added !== null && !chosen.includes(added) ? [...chosen, added] : chosen;
  const offered = OFFERED.filter((name) => !shown.includes(name));
  const { ref, onKeyDown } = useRoving<HTMLDivElement>();
  return (
    <search className="flex flex-wrap items-center gap-2">
      <TextBox value={filters.text ?? ''} onChange={(text) => change({ text })} />
      <div ref={ref} onKeyDown={onKeyDown} role="toolbar" aria-label="Filters" className="contents">
        {shown.map((name) =>
          name in CHOICES ? (
            <ChoiceChip
              key={name}
              name={name as ChoiceName}
              filters={filters}
              isNew={name === added}
              onChange={(value) => change({ [name]: value })}
              onGone={() => setAdded(null)}
            />
          ) : (
            <LeastChip
              key={name}
              name={name as keyof typeof LEASTS}
              value={filters[name as keyof typeof LEASTS]}
              isNew={name === added}
              onChange={(value) => change({ [name]: value })}
              onGone={() => setAdded(null)}
            />
          ),
        )}
        <Menu
          label="Add a filter"
          className="min-h-8 border bg-card px-2.5 text-sm font-medium text-ink"
          entries={offered.map((name) => ({
            label:
              name in CHOICES
                ? CHOICES[name as ChoiceName]
                : `${LEASTS[name as keyof typeof LEASTS].label} ≥`,
            onSelect: () => setAdded(name),
          }))}
        >
          <Icon name="plus" size={14} /> Filter
        </Menu>
        <Segments
          label="Views"
          options={VIEWS.map(({ name }) => [name, name])}
          isChosen={(name) => isSame(filters, { ...viewOf(name), ...rangeIn(filters) })}
          onChoose={(name) =>
            void navigate({ search: { ...rangeIn(filters), ...viewOf(name) }, replace: true })
          }
        />
        {(chosen.length > 0 || filters.text !== undefined || filters.slow !== undefined) && (
          <Button
            look="quiet"
            icon="close"
            onClick={() => {
              setAdded(null);
              void navigate({ search: rangeIn(filters), replace: true });
            }}
          >
            Clear
          </Button>
        )}
        <span className="ml-auto flex items-center gap-2">{aside}</span>
      </div>
    </search>
  );
}

function TextBox({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const [text, setText] = useState(value);
  // False for text from the address, so that it is not written back after the address has changed.
  const isTyped = useRef(false);
  useEffect(() => setText(value), [value]);
  const settled = useSettled(text.trim());
  const take = useEffectEvent(() => {
    if (isTyped.current && settled !== value) onChange(settled);
    isTyped.current = false;
  });
  useEffect(() => take(), [settled]);
  return (
    <label className="relative w-full sm:w-64">
      <span className="absolute top-2.5 left-2.5 text-faint">
        <Icon name="search" size={14} />
      </span>
      <input
        className="field pl-8!"
        type="search"
        aria-label="Model, key or request id"
        placeholder="Model, key or request id"
        data-search
        value={text}
        onChange={({ target }) => {
          isTyped.current = true;
          setText(target.value);
        }}
      />
    </label>
  );
}
