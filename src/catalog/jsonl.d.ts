// JSON Lines files imported as text, which become part of the program when bundled.
declare module '*.jsonl' {
  const text: string;
  export default text;
}
