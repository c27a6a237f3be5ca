// Shows toasts, with an undo button where possible.
import { Toast } from '@base-ui/react/toast';
import { useEffect, type ReactNode } from 'react';
import { Icon } from './icon.tsx';
import { showToasts, type ToastMessage } from './toast.ts';

const manager = Toast.createToastManager();

function add({ title, undo }: ToastMessage): void {
  const id: string = manager.add({
    title,
    timeout: 8_000,
    ...(undo && {
      actionProps: {
        children: 'Undo',
        onClick: () => {
          undo();
          manager.close(id);
        },
      },
    }),
  });
}

export function Toasts(): ReactNode {
  useEffect(() => showToasts(add), []);
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-20 z-60 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 md:bottom-4">
          <Shown />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Shown(): ReactNode {
  const { toasts } = Toast.useToastManager();
  return toasts.map((each) => (
    <Toast.Root key={each.id} toast={each} className="rounded-lg border bg-card p-3 text-sm shadow-lg">
      <Toast.Content className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <Toast.Title className="font-medium" />
        </div>
        <Toast.Action className="target rounded-md px-2 py-1 font-medium text-accent hover:bg-sunk" />
        <Toast.Close
          aria-label="Close"
          className="target inline-flex size-7 items-center justify-center rounded-md text-soft hover:bg-sunk"
        >
          <Icon name="close" size={14} />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
