import { describe, expect, it } from 'vitest';
import { answerAsMarkdown } from '../../../../src/chain/presentation/answer-as-markdown.ts';
import { aDegradedAnswer, aFinalAnswer } from '../../../support/contract-samples.ts';

describe('the final answer as Markdown', () => {
  it('[E10] [Y10] has sections for the answer, its sources with quotes, and its notes', () => {
    expect(answerAsMarkdown(aFinalAnswer({ notes: 'Be careful.' }))).toBe(`## Answer

*confidence 0.95 · completed · 1 cycle · 7 model calls · cost 0.01 EUR*

In 1932.

## Sources

- \`bridges.md:3-5\`
  > The bridge was opened

## Notes

Be careful.
`);
  });

  it('[E5] [Y10] states the degradation before the text', () => {
    expect(answerAsMarkdown(aDegradedAnswer({ sources: [] }))).toBe(`## Answer

*confidence 0.40 · degraded · 1 cycle · 7 model calls · cost 0.01 EUR*

> **Degraded (cycle limit reached)**: The limit of 1 cycle was reached. No result from: experience, answer.

Perhaps in 1932.

## Notes

The day is unsure.
`);
  });

  it('escapes paths, quotes, and notes so that they add no markup, tags, or lines', () => {
    const source = {
      path: 'a`b``|<i>\n## c.md',
      startLine: 1,
      endLine: 1,
      messageId: 'm',
      quote: '> `x` ](y) | <b>&lt;\n# z',
    };
    const markdown = answerAsMarkdown(aFinalAnswer({ sources: [source], notes: '1. *a*\n<!-- b' }));
    expect(markdown).toContain('- ```a`b``|<i> ## c.md:1```\n  > \\> \\`x\\` \\](y) \\| \\<b>\\&lt; # z\n');
    expect(markdown).toContain('## Notes\n\n1\\. \\*a\\* \\<!-- b\n');
  });
});
