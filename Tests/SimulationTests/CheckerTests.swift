import SimulatedSuite
import Testing
