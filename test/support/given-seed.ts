/** What random tests are drawn from: always the same, or the one of `POSTCHAIN_SEED`; it is printed. */
export function givenSeed(what: string): number {
  const seed = Number(process.env['POSTCHAIN_SEED'] ?? 72_026);
  process.stderr.write(`${what}: POSTCHAIN_SEED=${seed}\n`);
  return seed;
}
