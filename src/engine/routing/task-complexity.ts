// Complexity of a task by its words rather than its length: a deterministic table of signs in the most common languages
// of prompts.

interface Sign {
  readonly name: string;
  /** Whole words or phrases, separated by commas; `*` stands for any suffix. */
  readonly words: string;
  /** The same in scripts without spaces between words. */
  readonly unspaced: string;
  readonly points: number;
}

const SIGNS: readonly Sign[] = [
  {
    name: 'a proof, or mathematics beyond arithmetic',
    words:
      'prove, proof*, disprove, theorem*, lemma*, derive, derivation*, conjecture*, axiom*, integral, integrals, eigenvalue*, differential equation*, np-hard, np-complete, beweis*, herleit*, démontre*, démonstration*, théorème*, demuestra*, demostra*, teorema*, demonstre*, докажи*, доказательств*, теорем*',
    unspaced: '证明, 定理, 推导, 証明, 導出',
    points: 5,
  },
  {
    name: 'a part of a system that is hard to get right',
    words:
      'compiler*, interpreter, parser*, scheduler*, garbage collector*, kernel, consensus, distributed, concurren*, lock-free, deadlock*, race condition*, memory leak*, cryptograph*, exploit*, vulnerabilit*, query planner*, architecture*, architektur*, scalab*, migration*, refactor*, nebenläufig*, verteilt*, concurrence, distribué*, distribuid*, распредел*',
    unspaced: '并发, 分布式, 编译器, 架构, 重构, 設計, 並行, 分散',
    points: 3,
  },
  {
    name: 'something to be made',
    words:
      'implement*, build, develop, design, optimise, optimize, port, debug*, write a function, write a program, write a script, write a class, write a library, write a service, write a test*, write an app*, write a tool, write a report, write an essay, write a paper, write a specification, entwirf, entwickle, implementier*, schreibe eine funktion, schreibe ein programm, concevez, conçois, implémente*, développe*, diseña, implementa*, desarrolla*, escribe una función, escribe un programa, desenvolva, спроектируй*, реализуй*, разработай*, напиши программу, напиши функцию',
    unspaced: '实现, 设计, 开发, 编写, 写一个, 実装, 開発, 書いて',
    points: 2,
  },
  {
    name: 'a judgement that must be reasoned',
    words:
      'analyse*, analyze*, analysis, compare*, contrast, evaluate*, assess*, critique, critically, trade-off*, tradeoff*, pros and cons, root cause*, diagnose*, investigate, argue, argument, justify, implications, strategy, strategies, hypothes*, interpret, forecast*, prioritise, prioritize, analysiere*, vergleich*, bewerte*, beurteil*, évalue*, comparez, analiza*, compara*, evalúa*, avalie*, проанализируй*, сравни*, оцени*',
    unspaced: '分析, 比较, 评估, 权衡, 論じ, 比較, 評価',
    points: 2,
  },
  {
    name: 'a long work of several parts',
    words:
      'essay*, thesis, dissertation*, research paper*, research proposal*, white paper*, whitepaper*, business plan*, curriculum, screenplay*, contract, legal brief*, case study, literature review*, grant proposal*, aufsatz, abhandlung*, hausarbeit*, geschäftsplan*, vertrag, ensayo*, redação, эссе, реферат*, курсов*',
    unspaced: '论文, 报告, 合同, 論文, レポート',
    points: 2,
  },
  {
    name: 'several steps',
    words:
      'step by step, step-by-step, schritt für schritt, étape par étape, paso a paso, passo a passo, по шагам, and then, after that, finally, anschließend, ensuite, después, затем',
    unspaced: '一步一步, 逐步, 然后, ステップ, 次に',
    points: 2,
  },
  {
    name: 'code',
    words:
      'code, function*, class, method, script*, program, programs, algorithm*, regex, regular expression*, sql, query, api, endpoint*, unit test*, stack trace*, stacktrace*, exception*, bug*, python, javascript, typescript, rust, golang, java, bash, kubernetes, docker*, terraform, funktion*, programm*, skript*, fonction*, función, programa, código, функци*, программ*, код',
    unspaced: '代码, 函数, 程序, 算法, コード, 関数, プログラム',
    points: 1,
  },
];

const PATTERNS = SIGNS.map(({ words, unspaced, points }) => ({ match: patternOf(words, unspaced), points }));

/** Consecutive steps. */
const SEQUENCE = /[,;.]\s(?:and\s)?(?:then|dann|puis|luego|então|затем)(?!\p{L})/iu;
/** A list item; three of them count as several tasks. */
const LISTED = /^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]/gmu;
const QUESTION = /[?？]/g;
const SEVERAL = 3;
/** Characters at each end that are searched, because the middle of a long text is usually material. */
const EDGE_CHARS = 2_000;

/**
 * Points of a task's words: those of every matching sign, 2 for a list of three or more, 1 for consecutive steps, and 1
 * for three or more questions.
 * @param asked the user's last message
 */
export function estimateOf(asked: string): number {
  const text =
    asked.length <= 2 * EDGE_CHARS ? asked : `${asked.slice(0, EDGE_CHARS)}\n${asked.slice(-EDGE_CHARS)}`;
  let points = 0;
  for (const sign of PATTERNS) if (sign.match.test(text)) points += sign.points;
  if (SEQUENCE.test(text)) points += 1;
  if ((text.match(LISTED)?.length ?? 0) >= SEVERAL) points += 2;
  if ((text.match(QUESTION)?.length ?? 0) >= SEVERAL) points += 1;
  return points;
}

/** A plain alternation, so that matching is linear. `\b` is not used because it only knows English letters. */
function patternOf(words: string, unspaced: string): RegExp {
  const spaced = words
    .split(', ')
    .map((word) => (word.endsWith('*') ? escaped(word.slice(0, -1)) : `${escaped(word)}(?![\\p{L}\\p{N}])`));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${spaced.join('|')})|${unspaced.split(', ').join('|')}`, 'iu');
}

/** Hyphens need no escaping, and no word contains other special characters. */
function escaped(word: string): string {
  return word.replaceAll(' ', '\\s');
}
