// Slows down projects that exceed their limits: beyond a burst, their requests wait in a queue per project before they
// are processed, so that other projects are not delayed.
import { type Clock, nextTurn } from '../base/runtime/clock.ts';
import type { Counters } from '../base/telemetry/counters.ts';
import { type Pace, WaitingLine } from './waiting-line.ts';

/** Rate of refusals per project: a burst of 100, then 50 per second. */
const PACE: Pace = { free: 100, apartMs: 20, longestMs: 5_000 };
/** Maximum refusals without a wait per turn of the event loop: half a millisecond. */
const MOST_IN_A_TURN = 4;
/** Maximum queued requests of all projects; further ones do not wait. */
const MOST_WAITING = 10_000;
/** Maximum tracked projects. Beyond it, all are forgotten and get a new burst. */
const MOST_PROJECTS = 10_000;

export interface RefusedProjectsOptions {
  readonly clock: Clock;
  readonly counters: Counters;
}

export class RefusedProjects {
  readonly #options: RefusedProjectsOptions;
  readonly #lines = new Map<string, WaitingLine>();
  #waiting = 0;
  /** Number begun in this turn of the event loop, and those left for the next turns. */
  #begun = 0;
  #next: (() => void)[] = [];

  constructor(options: RefusedProjectsOptions) {
    this.#options = options;
  }

  /**
   * Waits for the turn of a request that will probably be refused.
   * @param request its client may disconnect
   * @returns false: it has disconnected; null: no wait
   */
  turn(projectId: string, request: Pick<Request, 'signal'>): Promise<boolean> | null {
    return this.#enqueue(projectId, request) ?? this.#turnOfLoop();
  }

  /**
   * Returns the response. A refusal that has not waited yet waits for its turn.
   * @param hadTurn true: the request has waited; if it is not refused, its turn is returned
   */
  look(answer: Response, projectId: string, hadTurn: boolean): Response | Promise<Response> {
    if (isRefusal(answer)) return (!hadTurn && this.#enqueue(projectId)?.then(() => answer)) || answer;
    if (hadTurn) this.#lineOf(projectId).release();
    return answer;
  }

  #enqueue(projectId: string, request?: Pick<Request, 'signal'>): Promise<boolean> | null {
    const line = this.#lineOf(projectId);
    if (line.pass() || this.#waiting >= MOST_WAITING) return null;
    this.#options.counters.add('slowed_refusals');
    return this.#wait(line, request);
  }

  #turnOfLoop(): Promise<boolean> | null {
    this.#begun += 1;
    if (this.#begun === 1) nextTurn(() => this.#nextTurn());
    if (this.#begun <= MOST_IN_A_TURN) return null;
    return new Promise((resolve) => this.#next.push(() => resolve(true)));
  }

  #nextTurn(): void {
    const now = this.#next.splice(0, MOST_IN_A_TURN);
    this.#begun = now.length + this.#next.length;
    if (this.#begun > 0) nextTurn(() => this.#nextTurn());
    for (const begin of now) begin();
  }

  async #wait(line: WaitingLine, request: Pick<Request, 'signal'> | undefined): Promise<boolean> {
    this.#waiting += 1;
    const isThere = await line.wait(request?.signal);
    this.#waiting -= 1;
    if (!isThere) this.#options.counters.add('left_before_refusal');
    return isThere;
  }

  #lineOf(projectId: string): WaitingLine {
    let line = this.#lines.get(projectId);
    if (line) return line;
    // Queued requests of forgotten projects still get their turns.
    if (this.#lines.size >= MOST_PROJECTS) this.#lines.clear();
    this.#lines.set(projectId, (line = new WaitingLine(this.#options.clock, PACE)));
    return line;
  }
}

function isRefusal(answer: Response): boolean {
  const { status } = answer;
  // The status is checked first, because the runtime creates the headers object on access.
  return (status === 429 || status === 402) && answer.headers.get('x-dragoman-attempts') === '0';
}
