// Which parts of the management API may answer otherwise than before: so that whoever shows them asks again then, and not
// every so often. Says it at most once a second, however much happens. Knows neither streams nor answers.
import type { LiveEvent } from '../events/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';

/** Parts by the first word of their paths. */
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
  // Each delivery to a receiver is a job, too.
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

/** Changes of an event are also read from the database, which it reaches a moment later. */
const PAUSE_MS = 1_000;

export class Activity {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #publish: (changed: readonly ActivePart[]) => void;
  readonly #changed = new Set<ActivePart>();
  #cancel: (() => void) | undefined;

  /** @param tell given the parts that have changed since it was called last */
  constructor(clock: Pick<Clock, 'after'>, publish: (changed: readonly ActivePart[]) => void) {
    this.#clock = clock;
    this.#publish = publish;
  }

  note(event: LiveEvent): void {
    for (const part of changedBy(event)) this.#changed.add(part);
    if (this.#changed.size > 0) this.#cancel ??= this.#clock.after(PAUSE_MS, () => this.#say());
  }

  /** Nobody wants to hear more. */
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
