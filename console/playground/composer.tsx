// Message input of the playground: text, and files that are dropped, pasted or chosen.
import { useRef, useState, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Problem } from '../ui/problem.tsx';
import type { Attachment } from './conversation.ts';

/** Maximum total bytes of the files of a message. */
const MOST_BYTES = 20 * 1_048_576;

interface ComposerProps {
  /** Initial text. */
  readonly text: string;
  readonly isRunning: boolean;
  readonly canSend: boolean;
  readonly onSend: (text: string, files: readonly Attachment[]) => void;
  readonly onStop: () => void;
}

export function Composer({ text: first, isRunning, canSend, onSend, onStop }: ComposerProps): ReactNode {
  const [text, setText] = useState(first);
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const add = (given: FileList | null): void => {
    if (!given || given.length === 0) return;
    void readFiles([...given])
      .then((read) => setFiles([...files, ...read]))
      .then(() => setProblem(null))
      .catch((error: unknown) => setProblem(String(error)));
  };
  const send = (): void => {
    if (isRunning || !canSend || (text.trim() === '' && files.length === 0)) return;
    onSend(text, files);
    setText('');
    setFiles([]);
  };
  return (
    <form
      className={`rounded-lg border bg-card p-2 has-[textarea:focus-visible]:border-accent has-[textarea:focus-visible]:ring-1 has-[textarea:focus-visible]:ring-accent ${isOver ? 'border-accent bg-wash' : 'border-edge'}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        add(event.dataTransfer.files);
      }}
    >
      {problem !== null && <Problem error={problem} />}
      <textarea
        className="w-full resize-y bg-transparent px-2 py-1.5 outline-none placeholder:text-faint"
        rows={3}
        aria-label="Message"
        placeholder="Write a message, or drop images and files here. Enter sends, Shift+Enter adds a line."
        value={text}
        onChange={({ target }) => setText(target.value)}
        onPaste={({ clipboardData }) => add(clipboardData.files)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {files.length > 0 && (
        <ul className="flex flex-wrap gap-2 px-2 pb-2">
          {files.map(({ name }) => (
            <li key={name}>
              <button
                type="button"
                className="flex items-center gap-1 rounded border bg-sunk px-2 py-0.5 text-sm"
                aria-label={`Remove ${name}`}
                onClick={() => setFiles(files.filter((file) => file.name !== name))}
              >
                {name} <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="flex items-center justify-between">
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          aria-label="Files"
          onChange={({ target }) => add(target.files)}
        />
        <Button look="quiet" icon="attach" onClick={() => chooser.current?.click()}>
          Attach
        </Button>
        {isRunning ? (
          <Button icon="stop" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button type="submit" look="primary" icon="send" disabled={!canSend}>
            Send
          </Button>
        )}
      </div>
    </form>
  );
}

async function readFiles(files: readonly File[]): Promise<readonly Attachment[]> {
  if (files.reduce((sum, { size }) => sum + size, 0) > MOST_BYTES)
    throw new Error('All files together can have at most 20 MB.');
  return Promise.all(files.map(readOne));
}

function readOne(file: File): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('error', () => reject(new Error(`Cannot read ${file.name}.`)));
    reader.addEventListener('load', () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      const data = url.slice(url.indexOf(',') + 1);
      resolve({ name: file.name, mediaType: file.type || 'application/octet-stream', data });
    });
    reader.readAsDataURL(file);
  });
}
