// Grammars of custom tools and patterns of schemas: whether a text is what they describe. Pure, synchronous and bounded;
// knows no protocol.
export {
  checkInput,
  compileGrammar,
  compilePattern,
  inputBudget,
  MAX_GRAMMAR_CHARS,
  type Grammar,
} from './compile-grammar.ts';
export { CompiledCache } from './compiled-cache.ts';
export type { Budget, Outcome } from './recognise.ts';
export { grammarRoom, type Room } from './machine.ts';
