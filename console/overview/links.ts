// Query parameters of links to the list of requests.

export interface Filters {
  readonly [name: string]: string | number | undefined;
}
