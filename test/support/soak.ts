/** Whether `npm run test:soak` runs the tests: with large samples instead of small ones. */
export const isSoak = process.env['POSTCHAIN_SOAK'] === '1';

/** The size of a sample, such as the number of random inputs. The soak prints what it runs. */
export function sampleSize(what: string, usual: number, soak: number): number {
  if (isSoak) process.stderr.write(`soak: ${soak} ${what}\n`);
  return isSoak ? soak : usual;
}
