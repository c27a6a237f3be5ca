// Panel with the details of a request next to the list. Buttons, or j and k, move to its neighbours.
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { Waiting } from '../ui/card.tsx';
import { Icon } from '../ui/icon.tsx';
import { Problem } from '../ui/problem.tsx';
import { Actions } from './actions.tsx';
import { Detail } from './detail.tsx';

interface PanelProps {
  readonly id: string;
  readonly view: string | undefined;
  /** Ids of the requests in the list, in its order. */
  readonly ids: readonly string[];
  readonly onMove: (id: string) => void;
  readonly onView: (view: string) => void;
  readonly onClose: () => void;
}

export function Panel({ id, view, ids, onMove, onView, onClose }: PanelProps): ReactNode {
  const { data, error } = useRead('GET /generations/{id}', { params: { id } });
  const panel = useRef<HTMLElement>(null);
  const at = ids.indexOf(id);
  const [before, after] = [ids[at - 1], at < 0 ? undefined : ids[at + 1]];
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  const move = (event: KeyboardEvent): void => {
    if ((event.target as HTMLElement).matches('input, textarea, select, [role=tab], [role^=menu]')) return;
    const to = { j: after, k: before }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onMove(to);
  };
  return (
    <aside
      ref={panel}
      aria-label="Request"
      tabIndex={-1}
      onKeyDown={move}
      className="fixed inset-0 z-30 overflow-y-auto border-l bg-card outline-none md:inset-y-0 md:right-0 md:left-auto md:w-160 md:max-w-[calc(100vw-14rem)]"
    >
      <div className="sticky top-0 z-10 flex items-center gap-1 border-b bg-card px-4 py-2">
        <h2 className="mr-auto text-lg font-semibold">Request</h2>
        <Button
          look="quiet"
          icon="up"
          aria-label="Request before"
          disabled={before === undefined}
          onClick={() => before !== undefined && onMove(before)}
        />
        <Button
          look="quiet"
          icon="low"
          aria-label="Next request"
          disabled={after === undefined}
          onClick={() => after !== undefined && onMove(after)}
        />
        <Link
          to="/requests/$id"
          params={{ id }}
          search={view === undefined ? {} : { view }}
          aria-label="Open as a page"
          className={`${buttonClass('quiet')} px-1.5`}
        >
          <Icon name="open" />
        </Link>
        {data && <Actions generation={data} />}
        <Button look="quiet" icon="close" aria-label="Close" onClick={onClose} />
      </div>
      <div className="p-4">
        {error && <Problem error={error} />}
        {!data && !error && <Waiting rows={10} />}
        {data && data.id === id && <Detail generation={data} view={view} onView={onView} isWide={false} />}
      </div>
    </aside>
  );
}
