// Tabs of a page or panel.
import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

interface Tab {
  readonly id: string;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}

export function Tabs({ label, tabs, value, onChange }: TabsProps): ReactNode {
  return (
    <Base.Root value={value} onValueChange={(id) => onChange(String(id))}>
      <Base.List aria-label={label} className="flex gap-1 overflow-x-auto border-b px-3">
        {tabs.map(({ id, label: text }) => (
          <Base.Tab
            key={id}
            value={id}
            className="-mb-px border-b-2 border-transparent px-2 py-2.5 text-sm font-medium whitespace-nowrap text-soft hover:text-ink data-active:border-accent data-active:text-ink"
          >
            {text}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id} className="p-4">
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
