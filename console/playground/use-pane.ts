// State of one side of the playground: its conversation, and the answer that is being streamed.
import { useCallback, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { forgetModelsKey, modelsKey } from '../api/models-key.ts';
import type { AssistantTurn, Call, Dialect, Piece, Settings, Turn } from './conversation.ts';
import { streamAnswer } from './stream.ts';

export interface Pane {
  readonly turns: readonly Turn[];
  readonly isRunning: boolean;
  /** Adds a turn and requests an answer. */
  readonly send: (turn: Turn, dialect: Dialect, settings: Settings) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

const EMPTY_TURN: AssistantTurn = {
  role: 'assistant',
  text: '',
  reasoning: '',
  calls: [],
  facts: { isRunning: true, id: null, firstMs: null, wholeMs: null, error: null },
};

export function usePane(): Pane {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const running = useRef<AbortController | null>(null);
  const send = useCallback(
    (turn: Turn, dialect: Dialect, settings: Settings): void => {
      const asked = [...turns, turn];
      const stop = new AbortController();
      running.current = stop;
      void answer({
        asked,
        dialect,
        settings,
        signal: stop.signal,
        show: (said) => setTurns([...asked, said]),
      });
    },
    [turns],
  );
  const last = turns.at(-1);
  return {
    turns,
    isRunning: last?.role === 'assistant' && last.facts.isRunning,
    send,
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort();
      setTurns([]);
    },
  };
}

interface Asking {
  readonly asked: readonly Turn[];
  readonly dialect: Dialect;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly show: (said: AssistantTurn) => void;
}

/** Streams an answer, and updates the page at most once per animation frame. */
async function answer({ asked, dialect, settings, signal, show }: Asking): Promise<void> {
  const begin = performance.now();
  let said = EMPTY_TURN;
  let isDue = false;
  const change = (next: Partial<AssistantTurn>, facts: Partial<AssistantTurn['facts']> = {}): void => {
    said = { ...said, ...next, facts: { ...said.facts, ...facts } };
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      show(said);
    });
  };
  const keys = new Map<string, number>();
  const take = (piece: Piece): void => {
    if (said.facts.firstMs === null) change({}, { firstMs: performance.now() - begin });
    switch (piece.type) {
      case 'text':
        return change({ text: said.text + piece.text });
      case 'reasoning':
        return change({ reasoning: said.reasoning + piece.text });
      case 'error':
        return change({}, { error: piece.message });
      case 'call': {
        const at = keys.get(piece.key) ?? keys.size;
        // Pieces of a call without a start belong to an item that is not shown.
        if (at === keys.size && piece.id === undefined) return undefined;
        keys.set(piece.key, at);
        return change({ calls: withPiece(said.calls, at, piece) });
      }
      case 'result':
        return change({
          calls: said.calls.map((call) => (call.id === piece.id ? { ...call, result: piece.text } : call)),
        });
    }
  };
  change({});
  try {
    const key = await modelsKey();
    await streamAnswer(dialect, key, asked, settings, {
      onStart: (id) => change({}, { id }),
      onPiece: take,
      signal,
    });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) forgetModelsKey();
    const isStopped = error instanceof DOMException && error.name === 'AbortError';
    if (!isStopped) change({}, { error: error instanceof Error ? error.message : String(error) });
  }
  change({}, { isRunning: false, wholeMs: performance.now() - begin });
}

function withPiece(
  calls: readonly Call[],
  at: number,
  piece: Extract<Piece, { type: 'call' }>,
): readonly Call[] {
  const before = calls[at] ?? { id: '', name: '', arguments: '', isRun: piece.isRun === true, result: null };
  const call = {
    ...before,
    id: piece.id ?? before.id,
    name: piece.name ?? before.name,
    arguments: before.arguments + (piece.arguments ?? ''),
  };
  return [...calls.slice(0, at), call, ...calls.slice(at + 1)];
}
