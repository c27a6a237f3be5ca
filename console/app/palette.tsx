// Command palette (Ctrl K): finds pages, keys, models and requests by name.
import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { useSettled } from '../api/use-settled.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { PLACES } from './places.ts';

interface Found {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly go: () => void;
}

const MOST = 6;

export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState('');
  const { found, isSearching } = useFound(text.trim());
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-shade" />
        <Dialog.Popup
          aria-label="Search"
          className="fixed inset-x-4 top-[12vh] z-50 mx-auto max-w-xl overflow-hidden rounded-lg border bg-card shadow-xl"
        >
          <Autocomplete.Root
            open
            inline
            items={found}
            value={text}
            autoHighlight="always"
            mode="none"
            itemToStringValue={({ name }: Found) => name}
            onValueChange={(next, { reason }) => {
              if (reason !== 'item-press') setText(next);
            }}
          >
            <div className="flex items-center gap-2 border-b px-4">
              <Icon name="search" />
              <Autocomplete.Input
                aria-label="Search pages, keys, models, request ids"
                placeholder="Pages, keys, models, request ids"
                className="h-12 w-full bg-transparent text-base outline-none placeholder:text-faint"
              />
            </div>
            <Autocomplete.List className="max-h-[50vh] overflow-y-auto p-1" aria-label="Found">
              {(item: Found) => (
                <Autocomplete.Item
                  key={`${item.kind} ${item.id}`}
                  value={item}
                  onClick={() => {
                    onClose();
                    item.go();
                  }}
                  className="target flex min-h-9 cursor-default items-center gap-2.5 rounded-md px-3 data-highlighted:bg-sunk"
                >
                  <Icon name={item.icon} />
                  <span className="min-w-0 flex-1 truncate">{item.name}</span>
                  <span className="text-xs text-faint">{item.kind}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
            <Autocomplete.Empty className="px-4 py-3 text-soft empty:hidden">
              {found.length === 0 && (isSearching ? 'Searching…' : 'No results.')}
            </Autocomplete.Empty>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface Search {
  readonly found: readonly Found[];
  /** True: results of the gateway for this text are not there yet. */
  readonly isSearching: boolean;
}

function useFound(text: string): Search {
  const navigate = useNavigate();
  const settled = useSettled(text);
  const when = settled.length > 0;
  const keys = useRead('GET /keys', { query: { search: settled, limit: MOST } }, { when });
  const models = useRead('GET /models', { query: { search: settled, limit: MOST } }, { when });
  const providers = useRead('GET /providers', { query: { limit: 100 } });
  const wanted = text.toLowerCase();
  const fits = (name: string): boolean => name.toLowerCase().includes(wanted);
  const pages = PLACES.filter(({ label }) => fits(label)).map(({ to, label, icon }): Found => ({
    id: to,
    name: label,
    kind: 'Page',
    icon,
    go: () => void navigate({ to }),
  }));
  if (wanted === '') return { found: pages, isSearching: false };
  const isSearching = settled !== text || keys.isFetching || models.isFetching || providers.isPending;
  const found = [
    ...(/^gen[-_]/.test(text)
      ? [
          {
            id: text,
            name: text,
            kind: 'Request',
            icon: 'requests' as const,
            go: () => void navigate({ to: '/requests/$id', params: { id: text } }),
          },
        ]
      : []),
    ...pages,
    ...(providers.data?.data ?? [])
      .filter(({ id, name }) => fits(id) || fits(name))
      .slice(0, MOST)
      .map(({ id, name }): Found => ({
        id,
        name,
        kind: 'Provider',
        icon: 'providers',
        go: () => void navigate({ to: '/providers/$provider', params: { provider: id } }),
      })),
    ...(keys.data?.data ?? [])
      .filter(({ name, hint }) => fits(name) || fits(hint))
      .map(({ id, name }): Found => ({
        id,
        name,
        kind: 'Key',
        icon: 'keys',
        go: () => void navigate({ to: '/keys/$id', params: { id } }),
      })),
    ...(models.data?.data ?? [])
      .filter(({ id }) => fits(id))
      .map(({ id }): Found => ({
        id,
        name: id,
        kind: 'Model',
        icon: 'models',
        go: () => void navigate({ to: '/model/$', params: { _splat: id } }),
      })),
  ];
  return { found, isSearching };
}
