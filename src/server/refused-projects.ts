// Slows those who go on asking for what their limits have no room for: beyond a few, their requests wait in a line of their
// project before anybody looks at them. So others have their turns in between, however many connections a project has, and
// clients that wait for an answer before they ask again ask less often. Knows no limit.
import { type Clock, nextTurn } from '../base/runtime/clock.ts';
import type { Counters } from '../base/telemetry/counters.ts';
import { type Pace, WaitingLine } from './waiting-line.ts';

/** Pace of the refusals of one project: a hundred, and then fifty in a second. */
const PACE: Pace = { free: 100, apartMs: 20, longestMs: 5_000 };
/** Most refusals without a wait that begin in one turn of the loop: half a millisecond in which nobody else is served. */
const MOST_IN_A_TURN = 4;
/** Requests that wait at once, of all projects; what is beyond does not wait. */
const MOST_WAITING = 10_000;
/** Projects that are remembered; beyond, all are forgotten, and have a burst again. */
const MOST_PROJECTS = 10_000;

export interface RefusedProjectsOptions {
  readonly clock: Clock;
  readonly counters: Counters;
}

export class RefusedProjects {
  readonly #options: RefusedProjectsOptions;
  readonly #lines = new Map<string, WaitingLine>();
  #waiting = 0;
  /** Begun in this turn of the loop, and those that are left for the next ones. */
  #begun = 0;
  #next: (() => void)[] = [];

  constructor(options: RefusedProjectsOptions) {
    this.#options = options;
  }

  /**
   * When a request of a project has its turn that will find no room, as far as anybody can tell.
   * @param request whose client may leave
   * @returns false where it has left; null: now
   */
  turn(projectId: string, request: Pick<Request, 'signal'>): Promise<boolean> | null {
    return this.#turnInLine(projectId, request) ?? this.#turnOfLoop();
  }

  /**
   * The answer, when it may be sent: a refusal for which nobody was asked waits for its turn.
   * @param hadTurn true where the request waited for it before; an answer that is no refusal gives it back
   */
  look(answer: Response, projectId: string, hadTurn: boolean): Response | Promise<Response> {
    if (isRefusal(answer)) return (!hadTurn && this.#turnInLine(projectId)?.then(() => answer)) || answer;
    if (hadTurn) this.#lineOf(projectId).giveBack();
    return answer;
  }

  #turnInLine(projectId: string, request?: Pick<Request, 'signal'>): Promise<boolean> | null {
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
    // Requests in queues that are forgotten have their turns all the same.
    if (this.#lines.size >= MOST_PROJECTS) this.#lines.clear();
    this.#lines.set(projectId, (line = new WaitingLine(this.#options.clock, PACE)));
    return line;
  }
}

function isRefusal(answer: Response): boolean {
  const { status } = answer;
  // The runtime makes an object of the headers when they are asked for: not for every answer.
  return (status === 429 || status === 402) && answer.headers.get('x-dragoman-attempts') === '0';
}
