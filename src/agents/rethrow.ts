/** An assigner that throws an error: its actor fails within the step, which a replay repeats. */
export const rethrow = (_: unknown, { error }: { readonly error: unknown }): object => {
  throw error;
};
