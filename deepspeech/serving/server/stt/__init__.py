"""`/stt`, for clients of earlier servers of DeepSpeech."""
