// Keeps prices and models up to date: polls the source, validates it, applies it as a new snapshot and stores it for
// the next start. Invalid data is refused, and the previous data is kept.
import type { PriceBook } from '../../../catalog/index.ts';
import { keepPrices } from '../../config/index.ts';
import type { Settings } from './open-settings.ts';
import type { Part } from './part.ts';
import { fingerprintOf, isAddress, nameOfSource, readPriceSource, type SourceTools } from './price-source.ts';
import type { UnixMs } from '../../../base/units.ts';

const HOUR_MS = 3_600_000;
/** Interval at which it is checked whether a poll is due. */
const TICK_MS = 60_000;
/** Retry interval after a failure, if the next poll would be later. */
const RETRY_MS = 15 * 60_000;

export interface CatalogRefreshInput extends SourceTools {
  readonly settings: Pick<Settings, 'config' | 'knownPrices' | 'usePrices' | 'log'>;
}

export class CatalogRefresh implements Part {
  readonly #input: CatalogRefreshInput;
  #stop: (() => void) | undefined;
  #book: PriceBook;
  /** The last source, when it was read, and its fingerprint. */
  #last: { readonly source: string; readonly at: UnixMs; readonly fingerprint: string | null } | undefined;
  #running = false;
  #isStopped = false;

  constructor(input: CatalogRefreshInput) {
    this.#input = input;
    const { book, kept } = input.settings.knownPrices;
    this.#book = book;
    // A file may have changed since.
    if (kept && isAddress(kept.from)) this.#last = { source: kept.from, at: kept.at, fingerprint: null };
  }

  start(): void {
    this.#stop = this.#input.clock.every(TICK_MS, () => void this.look());
    void this.look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stop?.();
  }

  /** Reads the source if a poll is due. Never rejects. */
  async look(): Promise<void> {
    const { settings, clock } = this.#input;
    const { refresh, everyHours } = settings.config().catalog;
    const everyMs = everyHours * HOUR_MS;
    if (refresh === null || this.#running) return;
    const last = this.#last;
    const fingerprint = fingerprintOf(refresh);
    const isOther = last?.source !== refresh || fingerprint !== last.fingerprint;
    if (!isOther && clock.wall() - last.at < everyMs) return;
    this.#running = true;
    const { log } = settings;
    try {
      await this.#read(refresh);
      this.#last = { source: refresh, at: clock.wall(), fingerprint };
    } catch (error) {
      const retry = Math.min(RETRY_MS, everyMs);
      this.#last = { source: refresh, at: clock.wall() - everyMs + retry, fingerprint };
      log.error('new prices and models were rejected; the previous ones stay in use', {
        source: nameOfSource(refresh),
        error,
      });
    } finally {
      this.#running = false;
    }
  }

  async #read(source: string): Promise<void> {
    const { settings, clock } = this.#input;
    const { log } = settings;
    const book = await readPriceSource(source, this.#book, this.#input);
    if (this.#isStopped) return;
    const at = clock.wall();
    if (book !== this.#book) {
      if (!settings.usePrices(book)) throw new Error('the configuration would be invalid with them');
      this.#book = book;
      log.info('new prices and models are in use', {
        source: nameOfSource(source),
        version: book.version,
      });
    }
    try {
      const kept = { version: book.version, from: source, at, vendors: book.vendors() };
      keepPrices(settings.config().dataDir, kept);
    } catch (error) {
      log.warn('new prices and models could not be saved for the next start', { error });
    }
  }
}
