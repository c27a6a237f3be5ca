// Converts configuration values to the program's form: camel-case names, sizes in bytes, secrets that cannot be
// printed, null for absent values. Types are derived from the schema, so that each key is declared once.
import { z } from 'zod';
import { Secret } from '../../base/telemetry/secret.ts';

/** Bytes per unit in key names. */
const BYTES: Readonly<Record<string, number>> = { kb: 1024, mb: 1_048_576 };

type Word<Text extends string> = Text extends 'kb' | 'mb' ? 'bytes' : Text;

/** `idle_ms` becomes `idleMs`; `max_mb_per_key` becomes `maxBytesPerKey`. */
type Name<Key extends string> = Key extends `${infer First}_${infer Rest}`
  ? `${Word<First>}${Capitalize<Name<Rest>>}`
  : Word<Key>;

type InProgram<File> = { readonly [Key in keyof File as Name<Key & string>]: File[Key] };

/** Renames the direct members of a schema. Nested schemas are not changed. */
export function inProgram<File extends z.core.SomeType & z.ZodType<object>>(
  schema: File,
): z.ZodPipe<File, z.ZodTransform<InProgram<z.output<File>>, z.output<File>>> {
  return schema.transform((members) => renamed(members) as InProgram<z.output<File>>);
}

function renamed(members: object): object {
  return Object.fromEntries(
    Object.entries(members).map(([key, value]: [string, unknown]) => {
      const words = key.split('_');
      const unit = words.map((word) => BYTES[word]).find((bytes) => bytes !== undefined);
      const name = words.map((word) => (Object.hasOwn(BYTES, word) ? 'bytes' : word));
      return [camelCase(name), unit && typeof value === 'number' ? Math.floor(value * unit) : value];
    }),
  );
}

function camelCase([first = '', ...rest]: readonly string[]): string {
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Schema of an optional key, which is null if absent. */
export function orNull<Inner extends z.ZodType>(
  schema: Inner,
): z.ZodPipe<z.ZodOptional<Inner>, z.ZodTransform<z.output<Inner> | null, z.output<Inner> | undefined>> {
  return schema.optional().transform((value) => value ?? null);
}

type SecretSchema<Value> = z.ZodPipe<z.ZodString, z.ZodTransform<Value, string>>;

/** Schema of a secret text. @param text further requirements */
export function secret(text: z.ZodString = z.string()): SecretSchema<Secret> {
  return text.meta({ secret: true }).transform((plain) => new Secret(plain));
}

/** Schema of a secret text. An empty text (`${KEY:-}` of an unset variable) means none. */
export function secretOrEmpty(): SecretSchema<Secret | null> {
  return z
    .string()
    .meta({ secret: true })
    .transform((plain) => (plain === '' ? null : new Secret(plain)));
}
