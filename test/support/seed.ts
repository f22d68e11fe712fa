/** What random tests are drawn from: always the same, or the one of `POSTCHAIN_SEED`. */
export const SEED = Number(process.env['POSTCHAIN_SEED'] ?? 72_026);
