// Filters of the list of requests, as figures lead to it.

export interface Filters {
  readonly [name: string]: string | number | undefined;
}
