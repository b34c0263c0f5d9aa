export type Role = "system" | "user" | "assistant" | "tool";
