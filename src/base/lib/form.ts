// Form with files, `multipart/form-data` (RFC 7578), as plain data, and its bytes. Knows no field.
import type { Slices } from './slices.ts';

/** A part with a file name. */
export interface FormFile {
  /** Name of the field. */
  readonly name: string;
  /** As its sender wrote it: a name, never a path to be opened. */
  readonly filename: string;
  /** As its sender wrote it. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export class Form {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly files: readonly FormFile[];

  constructor(fields: Form['fields'], files: Form['files']) {
    this.fields = fields;
    this.files = files;
  }
}

/** The bytes of a form, without a copy of its files. @param boundary a text that none of them holds */
export function encodeForm({ fields, files }: Form, boundary: string): Slices {
  const opened = (head: string): Buffer =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${head}`);
  const end = Buffer.from('\r\n');
  return [
    ...fields.map(([name, value]) => opened(`name="${escaped(name)}"\r\n\r\n${value}\r\n`)),
    ...files.flatMap(({ name, filename, mediaType, bytes }) => [
      opened(
        `name="${escaped(name)}"; filename="${escaped(filename)}"\r\ncontent-type: ${oneLine(mediaType)}\r\n\r\n`,
      ),
      bytes,
      end,
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ];
}

/** As browsers write it (HTML standard, "multipart form data"). */
function escaped(text: string): string {
  return text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
