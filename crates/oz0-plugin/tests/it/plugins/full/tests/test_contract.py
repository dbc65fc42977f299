def test_holds():
    assert True
