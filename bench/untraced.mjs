/** Returns the environment for a process in which no peer traces or reports its use. */
export function untraced() {
  return {
    ...process.env,
    LANGSMITH_TRACING: 'false',
    LANGCHAIN_TRACING_V2: 'false',
    MASTRA_TELEMETRY_DISABLED: 'true',
  };
}
