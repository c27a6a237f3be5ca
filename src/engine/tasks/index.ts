// Every kind of request, one line each.
import type { TaskFacts } from '../../canonical/index.ts';
import type { ClientRoute, ServedProtocol } from '../../protocols/index.ts';
import { count } from './count/index.ts';
import { embeddings } from './embeddings/index.ts';
import type { Task } from './task.ts';
import { text } from './text/index.ts';

export type { Answering, Task, TaskEngine } from './task.ts';
export { text } from './text/index.ts';

export const TASKS: readonly Task[] = [text, count, embeddings];

/** Facts of all tasks but text. */
export const TASK_FACTS: readonly TaskFacts[] = TASKS.flatMap(({ facts }) => facts ?? []);

/** Words for what models make: `outputModalities` of a model. */
export const MODALITIES: readonly string[] = [
  'text',
  'image',
  'file',
  'audio',
  'video',
  ...TASK_FACTS.map(({ makes }) => makes),
];

/** The task of a name; undefined where there is none. */
export function findTask(name: string | undefined): Task | undefined {
  return TASKS.find((task) => task.name === name);
}

/** The task besides text that a model of these modalities can do; undefined for models that do none. */
export function taskMaking(modalities: readonly string[]): Task | undefined {
  return TASKS.find(({ facts }) => facts && modalities.includes(facts.makes));
}

/** The task to which an operation belongs, by its name in the records: its own, or text. */
export function taskOf(api: string): Task {
  return findTask(api) ?? text;
}

/** Addresses to which clients of a protocol POST: its own, and those of tasks. Several may have the same path, and tell their addresses apart. */
export function postRoutes({ name, server }: ServedProtocol): readonly ClientRoute[] {
  const ofTasks = TASKS.flatMap(({ clients }) => clients)
    .filter(({ protocol }) => protocol === name)
    .flatMap(({ routes }) => routes);
  return [...server.addresses.routes, ...ofTasks];
}
