// Builds the console: the HTML page, its scripts and its stylesheet, ready to be served.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { stylesheet } from './tailwind.ts';

const CONSOLE = join(import.meta.dirname, '..');
/** Latin letters in all weights, without italics and other scripts. */
const FONT = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2';

/**
 * Writes all files into a new folder: the page, and compressed assets in `assets/`.
 * @throws AggregateError with all build errors
 */
export async function writeConsole(folder: string): Promise<void> {
  const [{ outputs }, css] = await Promise.all([
    Bun.build({
      entrypoints: [join(CONSOLE, 'main.tsx')],
      target: 'browser',
      splitting: true,
      minify: true,
      define: { 'process.env.NODE_ENV': '"production"' },
      naming: { entry: '[name]-[hash].js', chunk: 'part-[hash].js', asset: '[name]-[hash].[ext]' },
      publicPath: '/console/assets/',
    }),
    stylesheet(CONSOLE),
  ]);
  const assets = join(folder, 'assets');
  mkdirSync(assets, { recursive: true });
  const write = (name: string, content: string | Buffer): void =>
    writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
  for (const output of outputs) write(fileName(output.path), await output.text());
  const letters = readFileSync(Bun.resolveSync(FONT, CONSOLE));
  const font = `inter-${Bun.hash(letters).toString(36)}.woff2`;
  write(font, letters);
  const named = css.replace('inter.woff2', font);
  const styles = `styles-${Bun.hash(named).toString(36)}.css`;
  write(styles, named);
  const entry = outputs.find(({ kind }) => kind === 'entry-point');
  // Written last: if the page exists, all files do.
  writeFileSync(join(folder, 'index.html'), page(fileName(entry?.path ?? ''), styles, font));
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The page without inline scripts and styles, because its content security policy forbids both. */
function page(script: string, styles: string, font: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Dragoman</title>
    <link rel="icon" href="data:,">
    <link rel="preload" as="font" type="font/woff2" crossorigin href="/console/assets/${font}">
    <link rel="stylesheet" href="/console/assets/${styles}">
    <script type="module" src="/console/assets/${script}"></script>
  </head>
  <body>
    <div id="console"></div>
  </body>
</html>
`;
}
