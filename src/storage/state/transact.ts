// Several queries as one transaction, written once for every database: some answer at once, others when they can.
import type { CompiledQuery } from 'kysely';

/** Asks one query after another; each `yield` gives the rows of its own. */
export type Queries<T> = Generator<CompiledQuery, T, readonly object[]>;

/**
 * Runs queries in one transaction: all of them have happened, or none. They may run again from the beginning when others were in
 * their way, and have no effect but on the database; what can be refused is returned, not thrown.
 * @returns what they returned, once that is durable
 */
export type Transact = <T>(queries: () => Queries<T>) => Promise<T>;
