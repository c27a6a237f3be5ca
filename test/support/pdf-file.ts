// Writes small PDFs, and ones that were made to do harm. For tests.
import { deflateSync } from 'node:zlib';

export interface PdfOptions {
  /** Drawn on every page instead of text: a square, as a scan would draw a picture. */
  readonly isScan?: boolean;
  readonly isEncrypted?: boolean;
  /** Repeats the text of each page this often. */
  readonly times?: number;
}

/** A PDF with these lines on its pages, one text for each. */
export function pdfOf(pages: readonly string[], { isScan, isEncrypted, times = 1 }: PdfOptions = {}): Buffer {
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${2 * index + 4} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  pages.forEach((text, index) => {
    const lines = text.split('\n').map((line) => `(${line}) Tj 0 -14 Td `);
    const drawn = isScan ? '10 10 100 100 re f' : `BT /F1 12 Tf 72 720 Td ${lines.join('').repeat(times)} ET`;
    const content = deflateSync(Buffer.from(drawn, 'latin1'));
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${2 * index + 5} 0 R ` +
        '/Resources << /Font << /F1 3 0 R >> >> >>',
      Buffer.concat([
        Buffer.from(`<< /Length ${content.length} /Filter /FlateDecode >>\nstream\n`),
        content,
        Buffer.from('\nendstream'),
      ]),
    );
  });
  // A password that nobody knows.
  if (isEncrypted)
    objects.push(`<< /Filter /Standard /V 1 /R 2 /P -4 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >>`);
  const pieces = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let at = pieces[0]?.length ?? 0;
  const add = (piece: string | Buffer): void => {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    at += bytes.length;
  };
  objects.forEach((object, index) => {
    offsets.push(at);
    add(`${index + 1} 0 obj\n`);
    add(object);
    add('\nendobj\n');
  });
  const start = at;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const id = '/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]';
  const encryption = isEncrypted ? `/Encrypt ${objects.length} 0 R ${id}` : '';
  add(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`);
  add(`trailer << /Size ${objects.length + 1} /Root 1 0 R ${encryption} >>\nstartxref\n${start}\n%%EOF`);
  return Buffer.concat(pieces);
}
