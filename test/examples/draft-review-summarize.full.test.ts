import { expect, it, vi } from 'vitest';

const DRAFT = 'About bees: they dance to show where the flowers are.';
const REMARKS = 'Mention that the dance follows the sun.';
const SUMMARY = `About bees, in short (after "${REMARKS}"): a dance that follows the sun.`;

it('[R9] the draft, review, summarize example prints its results without and with a final output', async () => {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  await import('../../examples/draft-review-summarize.ts');
  const printed = print.mock.calls.map(([line]) => line);
  print.mockRestore();
  const steps = [`draft: ${DRAFT}`, `review: ${REMARKS}`, `summarize: ${SUMMARY}`, 'stopped after 3 runs: done'];
  expect(printed).toEqual([...steps, `Action result: ${SUMMARY}`, ...steps, 'Action result: Bees dance by the sun.']);
});
