// Names of browsers and operating systems, from the `User-Agent` header.

/** The first match counts: Edge and Opera also name Chrome, and Chrome names Safari. */
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

/** `Firefox on Linux`. An unknown `User-Agent` is cut to 40 characters. */
export function browserName(agent: string | null): string {
  if (agent === null || agent === '') return 'Unknown';
  const [browser, system] = [BROWSERS, SYSTEMS].map(
    (names) => names.find(([pattern]) => pattern.test(agent))?.[1],
  );
  if (browser === undefined) return agent.slice(0, 40);
  return system === undefined ? browser : `${browser} on ${system}`;
}
