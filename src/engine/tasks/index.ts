// All tasks, and lookups by name, modality and operation.
import type { TaskFacts } from '../../canonical/index.ts';
import type { ClientRoute, ServedProtocol } from '../../protocols/index.ts';
import { count } from './count/index.ts';
import { embeddings } from './embeddings/index.ts';
import type { Task } from './task.ts';
import { text } from './text/index.ts';

export type { Answering, Task, TaskEngine } from './task.ts';
export { text } from './text/index.ts';

export const TASKS: readonly Task[] = [text, count, embeddings];

/** Properties of all tasks except text. */
export const TASK_FACTS: readonly TaskFacts[] = TASKS.flatMap(({ facts }) => facts ?? []);

/** Output modalities of models (`outputModalities`). */
export const MODALITIES: readonly string[] = [
  'text',
  'image',
  'file',
  'audio',
  'video',
  ...TASK_FACTS.map(({ makes }) => makes),
];

export function findTask(name: string | undefined): Task | undefined {
  return TASKS.find((task) => task.name === name);
}

/** The task other than text that a model with these modalities can do. Undefined: none. */
export function taskMaking(modalities: readonly string[]): Task | undefined {
  return TASKS.find(({ facts }) => facts && modalities.includes(facts.makes));
}

/** The task of an operation, by its name in the records: its own, or text. */
export function taskOf(api: string): Task {
  return findTask(api) ?? text;
}

/**
 * POST routes for clients of a protocol: its own and those of tasks. Several may share a path and distinguish their
 * addresses themselves.
 */
export function postRoutes({ name, server }: ServedProtocol): readonly ClientRoute[] {
  const ofTasks = TASKS.flatMap(({ clients }) => clients)
    .filter(({ protocol }) => protocol === name)
    .flatMap(({ routes }) => routes);
  return [...server.addresses.routes, ...ofTasks];
}
