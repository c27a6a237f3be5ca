// Files of one JSON value a line, imported as text: they are part of the program, bundled or not.
declare module '*.jsonl' {
  const text: string;
  export default text;
}
