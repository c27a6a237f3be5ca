// Tracks which parts of the management API may have changed, so that pages can refetch them instead of polling.
// Published at most once a second.
import type { LiveEvent } from '../events/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';

/** Parts, named after the first segment of their paths. */
export const ACTIVE_PARTS = [
  'alerts',
  'batches',
  'doctor',
  'generations',
  'jobs',
  'keys',
  'limits',
  'models',
  'problems',
  'projects',
  'providers',
  'usage',
  'webhooks',
] as const;
export type ActivePart = (typeof ACTIVE_PARTS)[number];

const BY_REQUESTS = [
  'batches',
  'generations',
  'jobs',
  'keys',
  'limits',
  'models',
  'problems',
  'providers',
  'usage',
] as const;

const BY_CHANGE = {
  tenants: ['keys', 'limits', 'problems', 'projects'],
  configuration: ['doctor', 'keys', 'limits', 'models', 'problems', 'projects', 'providers'],
  alerts: ['alerts', 'problems'],
  // Each webhook delivery is also a job.
  jobs: ['batches', 'jobs', 'webhooks'],
} as const;

function changedBy(event: LiveEvent): readonly ActivePart[] {
  switch (event.type) {
    case 'generation':
    case 'lost':
      return BY_REQUESTS;
    case 'endpoint':
      return ['models', 'problems', 'providers'];
    case 'change':
      return BY_CHANGE[event.of];
    case 'alert':
      return ['alerts', 'problems'];
  }
}

/** Delay of a notification in milliseconds. The database receives changes slightly later than the events. */
const PAUSE_MS = 1_000;

export class Activity {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #publish: (changed: readonly ActivePart[]) => void;
  readonly #changed = new Set<ActivePart>();
  #cancel: (() => void) | undefined;

  /** @param publish receives the parts that changed since its last call */
  constructor(clock: Pick<Clock, 'after'>, publish: (changed: readonly ActivePart[]) => void) {
    this.#clock = clock;
    this.#publish = publish;
  }

  note(event: LiveEvent): void {
    for (const part of changedBy(event)) this.#changed.add(part);
    if (this.#changed.size > 0) this.#cancel ??= this.#clock.after(PAUSE_MS, () => this.#say());
  }

  /** Stops publishing. */
  stop(): void {
    this.#cancel?.();
  }

  #say(): void {
    this.#cancel = undefined;
    const changed = [...this.#changed].toSorted();
    this.#changed.clear();
    this.#publish(changed);
  }
}
