export * from "./errors.ts";
export { Memory, Scope, type Argument, type Options } from "./memory.ts";
export type { Answer, Body, MemoryOptions, Verb } from "./http.ts";
export type {
  AddResult, BatchResult, Context, Count, Duplicate, Fact, FactResult, Hit, Item, Lesson, Reason, Stats, Step, Turn,
} from "./openapi.ts";
