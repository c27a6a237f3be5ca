// Series found by a few words each: no text is put together for a request. Bounded, whatever names clients make up.
import type { LabelValues, Sample } from './reading.ts';
import type { Label } from './names.ts';

/** Stands for every model that is not told apart. */
export const OTHER = 'other';
/** Series of one kind; models that come when there are as many are not told apart. */
const MOST_SERIES = 500;

/** Dimensions of a series: a model at a provider, and what was asked of it. */
export interface SeriesName {
  readonly model: string;
  readonly provider: string;
  /** Empty where that makes no difference. */
  readonly api: string;
}

export class SeriesBook<Series> {
  readonly all: Series[] = [];
  readonly #listedAs: (model: string) => string | null;
  readonly #make: (labels: LabelValues & SeriesName) => Series;
  readonly #byApi = new Map<string, Map<string, Map<string, Series>>>();

  /** @param listedAs the id of a listed model for any name of it; null for every other name */
  constructor(
    listedAs: (model: string) => string | null,
    make: (labels: LabelValues & SeriesName) => Series,
  ) {
    this.#listedAs = listedAs;
    this.#make = make;
  }

  /** The series of a model; that of all others where it is not listed. */
  of(model: string, provider: string, api: string): Series {
    const known = this.#find(model, provider, api);
    if (known) return known;
    const name = (this.all.length < MOST_SERIES ? this.#listedAs(model) : null) ?? OTHER;
    return this.#find(name, provider, api) ?? this.#add({ model: name, provider, api });
  }

  #find(model: string, provider: string, api: string): Series | undefined {
    return this.#byApi.get(api)?.get(provider)?.get(model);
  }

  #add(name: SeriesName): Series {
    const series = this.#make(name);
    const { model, provider, api } = name;
    let byProvider = this.#byApi.get(api);
    if (!byProvider) this.#byApi.set(api, (byProvider = new Map()));
    let byModel = byProvider.get(provider);
    if (!byModel) byProvider.set(provider, (byModel = new Map()));
    byModel.set(model, series);
    this.all.push(series);
    return series;
  }
}

// Counts by a word or a number, of which there are few.

export class Tally<Key extends string | number> {
  readonly #counts = new Map<Key, number>();

  add(key: Key, by = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  /** Each count, with its key under one more label. */
  *under(label: Label, labels: LabelValues): Iterable<Sample> {
    for (const [key, value] of this.#counts) yield { labels: { ...labels, [label]: String(key) }, value };
  }
}
