// Groups of lines at a vendor's batch API, stored as steps of the job. A group is stored before it is submitted, and
// the vendor's id before the batch is polled. Sends no requests.
import { createHash } from 'node:crypto';
import type { ProtocolName } from '../../../canonical/index.ts';
import { type JobRun, LOST } from '../../jobs/index.ts';
import type { UnixMs } from '../../../base/units.ts';

/**
 * End of a group. `void`: never submitted. `full`: the vendor's capacity was exceeded. `refused`: the vendor refused it
 * as a whole.
 */
export type GroupEnd = 'collected' | 'void' | 'full' | 'refused';

/** A group before it is submitted. */
export interface NewGroup {
  /** Slug of the endpoint. */
  readonly slug: string;
  readonly modelId: string;
  readonly protocol: ProtocolName;
  /** Path of each line, below the base URL. */
  readonly path: string;
  readonly at: UnixMs;
  /** Numbers of its lines in the file, ascending. */
  readonly lines: readonly number[];
}

export interface VendorGroup extends NewGroup {
  /** From 0. */
  readonly number: number;
  /** Token by which the vendor's batch is recognised; also the prefix of its line ids. */
  readonly token: string;
  /** The vendor's id. Null: the outcome of the submission is unknown. */
  readonly id: string | null;
  /** Null: it is at the vendor. */
  readonly end: GroupEnd | null;
}

const STEP = 'vendor:';
/** Failed submissions after which lines are sent as ordinary requests. */
const MOST_FAILED_SUBMISSIONS = 5;

export class VendorGroups {
  readonly #run: JobRun;
  readonly #groups: VendorGroup[];
  /** Lines at a vendor, and lines that came back without an answer. */
  readonly #held = new Set<number>();
  readonly #own = new Set<number>();

  private constructor(run: JobRun, groups: VendorGroup[]) {
    this.#run = run;
    this.#groups = groups;
    for (const group of groups) this.#sort(group);
  }

  static async load(run: JobRun): Promise<VendorGroups> {
    const steps = await run.store.steps(run.job.id);
    const details = new Map(steps.map(({ name, detail }) => [name, detail]));
    const groups: VendorGroup[] = [];
    for (let number = 0; ; number += 1) {
      const detail = details.get(`${STEP}${number}`);
      if (detail === undefined) break;
      const { lines, ...facts } = JSON.parse(detail) as Omit<NewGroup, 'lines'> & { readonly lines: string };
      groups.push({
        ...facts,
        lines: decodeRanges(lines),
        number,
        token: tokenOf(run.job.id, number),
        id: details.get(`${STEP}${number}:id`) ?? null,
        end: (details.get(`${STEP}${number}:end`) as GroupEnd | undefined) ?? null,
      });
    }
    return new VendorGroups(run, groups);
  }

  /** Groups at their vendor. */
  get open(): readonly VendorGroup[] {
    return this.#groups.filter(({ end }) => end === null);
  }

  /** True: submissions failed so often that lines are sent as ordinary requests. */
  get isGivenUp(): boolean {
    return this.#groups.filter(({ end }) => end === 'void').length >= MOST_FAILED_SUBMISSIONS;
  }

  /** Number of lines at vendors. */
  get held(): number {
    return this.#held.size;
  }

  /** True: the line is at a vendor and must not be sent again. */
  holds(line: number): boolean {
    return this.#held.has(line);
  }

  /** True: the line came back from a vendor without an answer. */
  cameBack(line: number): boolean {
    return this.#own.has(line);
  }

  /** Stores a group that is about to be submitted. Resolves once durable. */
  async add(given: NewGroup): Promise<VendorGroup> {
    const number = this.#groups.length;
    const { id } = this.#run.job;
    const group: VendorGroup = { ...given, number, token: tokenOf(id, number), id: null, end: null };
    this.#groups.push(group);
    this.#sort(group);
    await this.#step(`${number}`, JSON.stringify({ ...given, lines: encodeRanges(given.lines) }));
    return group;
  }

  /** Stores the vendor's id of a group. */
  async named(group: VendorGroup, id: string): Promise<VendorGroup> {
    await this.#step(`${group.number}:id`, id);
    return this.#replace({ ...group, id });
  }

  async end(group: VendorGroup, end: GroupEnd): Promise<void> {
    await this.#step(`${group.number}:end`, end);
    this.#replace({ ...group, end });
  }

  async #step(name: string, detail: string): Promise<void> {
    const { job, store } = this.#run;
    if (!(await store.step(job.id, job.fence, { name: STEP + name, detail }))) throw LOST;
  }

  #replace(group: VendorGroup): VendorGroup {
    this.#groups[group.number] = group;
    this.#sort(group);
    return group;
  }

  #sort({ lines, end }: VendorGroup): void {
    for (const line of lines) {
      if (end === null) this.#held.add(line);
      else this.#held.delete(line);
      if (end === 'collected' || end === 'refused') this.#own.add(line);
    }
  }
}

/** Letters, digits and hyphens, which every vendor accepts in an id. */
function tokenOf(batchId: string, number: number): string {
  return `${createHash('sha256').update(batchId).digest('hex').slice(0, 24)}-${number}`;
}

/** `[1,2,3,7]` as `1-3,7`. */
function encodeRanges(numbers: readonly number[]): string {
  const ranges: string[] = [];
  let [first = 0] = numbers;
  for (const [index, number] of numbers.entries()) {
    const next = numbers[index + 1];
    if (next === number + 1) continue;
    ranges.push(first === number ? `${number}` : `${first}-${number}`);
    first = next ?? 0;
  }
  return ranges.join(',');
}

function decodeRanges(text: string): readonly number[] {
  return text.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
