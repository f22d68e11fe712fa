/** A capability that computes arithmetic expressions. Requires the package `mathjs`. */
export { calculator } from '../tools/calculator.ts';
