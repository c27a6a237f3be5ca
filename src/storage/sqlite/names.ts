// The texts that many records hold (models, endpoints, members of JSON), each once in a table, and their numbers. A number
// is learned for what was seen twice, so that texts of one request alone do not fill the table.
import type { Kysely } from 'kysely';
import type { SqlConnection, SqlStatement } from '../../runtime/sqlite.ts';
import type { Schema } from './schema.ts';
import type { NameNumbers } from '../compact/writer.ts';

/** Numbers that this process uses, and learns of itself. Texts beyond them are written out. */
const MOST_NAMES = 16_384;
/** A number costs one or two bytes. */
const SHORTEST_NAME = 3;
/** Texts seen once that are remembered at a time. */
const MOST_SEEN_ONCE = 1_000;

export class SqliteNames implements NameNumbers {
  readonly #connection: SqlConnection;
  /** Binds the text; gives its number. Writes also where the text is there already. */
  readonly #insert: SqlStatement;
  /** Binds the text. */
  readonly #byText: SqlStatement;
  /** Binds the number. */
  readonly #byNumber: SqlStatement;
  /** Those that a power cut cannot take back: entries of a journal may hold them. */
  readonly #numbers = new Map<string, number>();
  readonly #texts = new Map<number, string>();
  readonly #greatest: SqlStatement;
  #greatestUsed = 0;
  readonly #seenOnce = new Set<string>();
  readonly #wanted = new Set<string>();

  constructor(connection: SqlConnection, db: Kysely<Schema>) {
    this.#connection = connection;
    const insert = db
      .insertInto('names')
      .values({ text: '' })
      .onConflict((conflict) =>
        conflict.column('text').doUpdateSet((eb) => ({ text: eb.ref('excluded.text') })),
      )
      .returning('number');
    const byText = db.selectFrom('names').select('number').where('text', '=', '');
    const byNumber = db.selectFrom('names').select('text').where('number', '=', 0);
    const greatest = db.selectFrom('names').select((eb) => eb.fn.max('number').as('number'));
    this.#greatest = connection.prepare(greatest.compile().sql);
    this.#insert = connection.prepare(insert.compile().sql);
    this.#byText = connection.prepare(byText.compile().sql);
    this.#byNumber = connection.prepare(byNumber.compile().sql);
  }

  /** The greatest number that `numberOf` may give; 0: none. */
  get greatestUsed(): number {
    return this.#greatestUsed;
  }

  /** The greatest number that was ever given; 0: none. */
  greatest(): number {
    return Number(this.#greatest.all()[0]?.['number'] ?? 0);
  }

  get numbers(): ReadonlyMap<string, number> {
    return this.#numbers;
  }

  /** Wants a number for a text that was seen before. */
  miss(text: string): void {
    if (text.length < SHORTEST_NAME || this.#numbers.size + this.#wanted.size >= MOST_NAMES) return;
    if (this.#seenOnce.delete(text)) {
      // The table's texts are UTF-8, which has no half characters.
      if (text.isWellFormed()) this.#wanted.add(text);
    } else if (!this.#wanted.has(text)) {
      if (this.#seenOnce.size >= MOST_SEEN_ONCE) this.#seenOnce.clear();
      this.#seenOnce.add(text);
    }
  }

  /** The number of a text, which it is given if it has none. Inside a transaction, for rows of the same. */
  numberFor(text: string): number {
    return this.knownNumber(text) ?? Number(this.#insert.all(text)[0]?.['number']);
  }

  /** The number of a text, where it has one. */
  knownNumber(text: string): number | undefined {
    return this.#numbers.get(text) ?? this.#stored(text);
  }

  /** The text of a number. @throws RangeError when the number was never given */
  textOf(number: number): string {
    const known = this.#texts.get(number);
    if (known !== undefined) return known;
    const text = this.#byNumber.all(number)[0]?.['text'];
    if (typeof text !== 'string') throw new RangeError(`no name has the number ${number}`);
    if (this.#texts.size >= MOST_NAMES) this.#texts.clear();
    this.#texts.set(number, text);
    return text;
  }

  /**
   * Gives numbers to the texts that were seen again. Outside of a transaction; a database that takes nothing now is
   * asked again the next time.
   */
  learn(): void {
    if (this.#wanted.size === 0) return;
    const learned: (readonly [string, number])[] = [];
    try {
      // Entries of journals will hold the numbers: after a power cut they must mean the same.
      this.#connection.exec('pragma synchronous = full');
      this.#connection.exec('begin immediate');
      for (const text of this.#wanted) learned.push([text, Number(this.#insert.all(text)[0]?.['number'])]);
      this.#connection.exec('commit');
    } catch {
      if (this.#connection.inTransaction) this.#connection.exec('rollback');
      return;
    } finally {
      this.#connection.exec('pragma synchronous = normal');
    }
    for (const [text, number] of learned) {
      this.#numbers.set(text, number);
      this.#greatestUsed = Math.max(this.#greatestUsed, number);
    }
    this.#wanted.clear();
  }

  #stored(text: string): number | undefined {
    return this.#byText.all(text)[0]?.['number'] as number | undefined;
  }
}
