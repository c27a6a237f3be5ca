// Names of browsers and systems, as people know them, by what a browser sends as `User-Agent`.

/** The first that matches: Edge and Opera also say Chrome, and Chrome says Safari. */
const BROWSERS = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const SYSTEMS = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\b(?:Linux|X11)\b/, 'Linux'],
] as const;

/** `Firefox on Linux`; what is known of neither is shown as it was sent. */
export function browserName(agent: string | null): string {
  if (agent === null || agent === '') return 'Unknown';
  const [browser, system] = [BROWSERS, SYSTEMS].map(
    (names) => names.find(([pattern]) => pattern.test(agent))?.[1],
  );
  if (browser === undefined) return agent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
