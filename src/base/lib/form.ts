// `multipart/form-data` (RFC 7578): a form with files as plain data, and its encoding.
import type { Slices } from './bytes.ts';

/** A part with a file name. */
export interface FormFile {
  /** Name of the field. */
  readonly name: string;
  /** File name as sent by the client. Never use it as a path. */
  readonly filename: string;
  /** Content type as sent by the client. */
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

/** Encodes a form without copying its files. @param boundary a text that occurs in none of its parts */
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

/** Escapes a name as browsers do (HTML standard, "multipart form data"). */
function escaped(text: string): string {
  return text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
