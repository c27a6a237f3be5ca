// From the file's spelling to the program's: names in camel case, sizes in bytes, secrets that cannot be printed, null for
// what is absent. A schema that says so is the type as well: nobody writes a key down twice.
import { z } from 'zod';
import { Secret } from '../../base/telemetry/secret.ts';

/** Bytes of a unit in the name of a key. */
const BYTES: Readonly<Record<string, number>> = { kb: 1024, mb: 1_048_576 };

type Word<Text extends string> = Text extends 'kb' | 'mb' ? 'bytes' : Text;

/** `idle_ms` is `idleMs`; `max_mb_per_key` is `maxBytesPerKey`. */
type Name<Key extends string> = Key extends `${infer First}_${infer Rest}`
  ? `${Word<First>}${Capitalize<Name<Rest>>}`
  : Word<Key>;

type InProgram<File> = { readonly [Key in keyof File as Name<Key & string>]: File[Key] };

/** The schema, with the names of its own members as the program has them. What stands in the members is their business. */
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

/** The schema of a key that may be absent, which the program has as null. */
export function orNull<Inner extends z.ZodType>(
  schema: Inner,
): z.ZodPipe<z.ZodOptional<Inner>, z.ZodTransform<z.output<Inner> | null, z.output<Inner> | undefined>> {
  return schema.optional().transform((value) => value ?? null);
}

type SecretSchema<Value> = z.ZodPipe<z.ZodString, z.ZodTransform<Value, string>>;

/** A text that must not be printed. @param text what it has to be, besides a text */
export function secret(text: z.ZodString = z.string()): SecretSchema<Secret> {
  return text.meta({ secret: true }).transform((plain) => new Secret(plain));
}

/** The same, where an empty text (`${KEY:-}` of a variable that is not set) stands for none. */
export function secretOrEmpty(): SecretSchema<Secret | null> {
  return z
    .string()
    .meta({ secret: true })
    .transform((plain) => (plain === '' ? null : new Secret(plain)));
}
