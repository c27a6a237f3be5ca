// A filter as a chip. Its popup offers other values, each with its number of requests.
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Popover } from '@base-ui/react/popover';
import { useState, type ReactNode } from 'react';
import { useKeyNames } from '../api/key-names.ts';
import { useRead } from '../api/queries.ts';
import { count } from '../format/numbers.ts';
import { REQUEST_STATES, words, type RequestState } from '../format/states.ts';
import { useSpan } from '../time/use-span.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { CHOICES, LEASTS, queryOf, type ChoiceName, type Filters, type LeastName } from './filters.ts';

interface ChipProps {
  readonly label: string;
  /** Undefined: no value is chosen. */
  readonly text: string | undefined;
  readonly isNew: boolean;
  readonly onRemove: () => void;
  /** Content of the popup, which may close it. */
  readonly children: (close: () => void) => ReactNode;
}

function Chip({ label, text, isNew, onRemove, children }: ChipProps): ReactNode {
  const [isOpen, setOpen] = useState(isNew);
  return (
    <span className="inline-flex max-w-72 items-stretch rounded-md border border-edge bg-card">
      <Popover.Root
        open={isOpen}
        onOpenChange={(next) => {
          setOpen(next);
          if (!next && text === undefined) onRemove();
        }}
      >
        <Popover.Trigger className="target min-h-8 min-w-0 truncate rounded-l-md px-2.5 text-left hover:bg-sunk">
          <span className="text-soft">{label} </span>
          <span className="font-medium">{text ?? '…'}</span>
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Positioner sideOffset={4} align="start" className="z-50">
            <Popover.Popup aria-label={label} className="w-72 rounded-lg border bg-card shadow-lg">
              {children(() => setOpen(false))}
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
      <button
        type="button"
        aria-label={`Remove the filter ${label}`}
        onClick={onRemove}
        className="target inline-flex min-w-7 items-center justify-center rounded-r-md border-l text-soft hover:bg-sunk"
      >
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}

interface ChoiceChipProps {
  readonly name: ChoiceName;
  readonly filters: Filters;
  readonly isNew: boolean;
  readonly onChange: (value: string | undefined) => void;
  readonly onGone: () => void;
}

export function ChoiceChip({ name, filters, isNew, onChange, onGone }: ChoiceChipProps): ReactNode {
  const chosen = filters[name]?.split(',') ?? [];
  const names = useKeyNames(name === 'key' ? chosen : []);
  const text = chosen.map((value) => names.get(value) ?? wordOf(name, value)).join(', ');
  return (
    <Chip
      label={CHOICES[name]}
      text={text || undefined}
      isNew={isNew}
      onRemove={() => {
        onGone();
        onChange(undefined);
      }}
    >
      {(close) => (
        <Choices
          name={name}
          filters={filters}
          chosen={chosen}
          onPick={(value, isMore) => {
            const others = chosen.filter((each) => each !== value);
            const next = isMore ? (chosen.includes(value) ? others : [...others, value]) : [value];
            onChange(next.join(',') || undefined);
            if (!isMore) close();
          }}
        />
      )}
    </Chip>
  );
}

function wordOf(name: ChoiceName, value: string): string {
  if (name === 'state') return REQUEST_STATES[value as RequestState]?.word ?? words(value);
  return name === 'error_kind' ? words(value) : value;
}

/** Filters whose values the gateway counts. */
const COUNTED: readonly ChoiceName[] = [
  'state',
  'model',
  'provider',
  'attempted',
  'key',
  'project',
  'protocol',
  'error_kind',
];

interface Value {
  readonly value: string;
  readonly text: string;
  /** Number of requests; null: not counted. */
  readonly count: number | null;
}

interface ChoicesProps {
  readonly name: ChoiceName;
  readonly filters: Filters;
  readonly chosen: readonly string[];
  /** @param isMore true: adds the value to those already chosen */
  readonly onPick: (value: string, isMore: boolean) => void;
}

function Choices({ name, filters, chosen, onPick }: ChoicesProps): ReactNode {
  const [typed, setTyped] = useState('');
  const { times } = useSpan(filters);
  const counts = useRead(
    'GET /generations/counts',
    { query: { ...queryOf(filters), ...times, buckets: 0, facets: name } },
    { when: COUNTED.includes(name) },
  );
  const known = (counts.data?.facets[name] ?? []).map((facet): Value => ({
    value: facet.value,
    text: facet.name ?? wordOf(name, facet.value),
    count: facet.count,
  }));
  const fitting = known.filter(({ value, text }) =>
    `${text} ${value}`.toLowerCase().includes(typed.toLowerCase()),
  );
  const isExact = fitting.some(({ value, text }) => value === typed || text === typed);
  const items =
    typed === '' || isExact ? fitting : [...fitting, { value: typed, text: `“${typed}”`, count: null }];
  return (
    <Autocomplete.Root
      open
      inline
      items={items}
      value={typed}
      mode="none"
      autoHighlight="always"
      itemToStringValue={({ text }: Value) => text}
      onValueChange={(next, { reason }) => {
        if (reason !== 'item-press') setTyped(next);
      }}
    >
      <div className="border-b p-2">
        <Autocomplete.Input className="field" aria-label={CHOICES[name]} placeholder={CHOICES[name]} />
      </div>
      <Autocomplete.List aria-label={CHOICES[name]} className="max-h-72 overflow-y-auto p-1">
        {(item: Value) => (
          <Autocomplete.Item
            key={item.value}
            value={item}
            onClick={(event) => onPick(item.value, event.shiftKey || event.ctrlKey || event.metaKey)}
            className="target flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 data-highlighted:bg-sunk"
          >
            <span className="size-3.5 shrink-0">
              {chosen.includes(item.value) && <Icon name="good" size={14} />}
            </span>
            <span className="min-w-0 flex-1 truncate">{item.text}</span>
            {item.count !== null && <span className="figures text-xs text-faint">{count(item.count)}</span>}
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
      {items.length === 0 && (
        <p className="px-3 pb-2 text-faint">
          {counts.isPending && COUNTED.includes(name) ? 'Loading…' : 'Type a value.'}
        </p>
      )}
      <p className="border-t px-3 py-1.5 text-xs text-faint">Ctrl+click selects several.</p>
    </Autocomplete.Root>
  );
}

interface LeastChipProps {
  readonly name: LeastName;
  readonly value: number | undefined;
  readonly isNew: boolean;
  readonly onChange: (value: number | undefined) => void;
  readonly onGone: () => void;
}

export function LeastChip({ name, value, isNew, onChange, onGone }: LeastChipProps): ReactNode {
  const { label, unit } = LEASTS[name];
  const [text, setText] = useState(value === undefined ? '' : String(value));
  return (
    <Chip
      label={`${label} ≥`}
      text={value === undefined ? undefined : unit === 'USD' ? `$${value}` : `${value} ${unit}`.trim()}
      isNew={isNew}
      onRemove={() => {
        onGone();
        onChange(undefined);
      }}
    >
      {(close) => (
        <form
          className="flex gap-2 p-2"
          onSubmit={(event) => {
            event.preventDefault();
            onChange(Number(text) > 0 ? Number(text) : undefined);
            close();
          }}
        >
          <input
            className="field"
            type="number"
            min={0}
            step="any"
            aria-label={`${label}, at least${unit === '' ? '' : `, in ${unit}`}`}
            placeholder={unit === 'ms' ? 'Milliseconds' : unit === 'USD' ? 'USD' : 'Number'}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          <Button type="submit" look="primary">
            Apply
          </Button>
        </form>
      )}
    </Chip>
  );
}
