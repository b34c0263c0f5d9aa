export {
  called,
  finish,
  hangingAfter,
  type MockAnswer,
  type ModelPart,
  mockModel,
  said,
} from "./mock-model.js";
