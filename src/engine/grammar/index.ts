// Grammars of custom tools and patterns of schemas: whether a text is what they describe. Pure, synchronous and bounded;
// knows no protocol.
export {
  checkInput,
  CompiledCache,
  compileGrammar,
  compilePattern,
  type Grammar,
  inputBudget,
} from './compile-grammar.ts';
export type { Budget } from './recognise.ts';
export { grammarRoom, type Room } from './machine.ts';
